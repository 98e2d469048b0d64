import { Command } from 'commander'
import { request } from '../../client.ts'
import { orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { workerId } from '../../ids.ts'

export const workerUndrain = () =>
  new Command('undrain')
    .description('let a drained worker take work again')
    .argument('<worker>', 'its name')
    .action(async (name: string) => {
      const { undrainWorker } = await request(
        graphql(`mutation WorkerUndrain($id: ID!) {
          undrainWorker(id: $id) { __typename ... on Worker { name } ... on Error { code message } }
        }`),
        { id: await workerId(name) },
      )
      process.stderr.write(`${orThrow(undrainWorker).name} takes work again.\n`)
    })
