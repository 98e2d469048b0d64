import { Command } from 'commander'
import { request } from '../../client.ts'
import { orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { workerId } from '../../ids.ts'

export const workerDrain = () =>
  new Command('drain')
    .description('let a worker take no more work and finish what it has')
    .argument('<worker>', 'its name')
    .action(async (name: string) => {
      const { drainWorker } = await request(
        graphql(`mutation WorkerDrain($id: ID!) {
          drainWorker(id: $id) { __typename ... on Worker { name } ... on Error { code message } }
        }`),
        { id: await workerId(name) },
      )
      process.stderr.write(
        `${orThrow(drainWorker).name} takes no more work. \`muster worker list\` shows when it has nothing left.\n`,
      )
    })
