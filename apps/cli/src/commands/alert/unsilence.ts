import { Command } from 'commander'
import { request } from '../../client.ts'
import { orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { globalId } from '../../ids.ts'

export const alertUnsilence = () =>
  new Command('unsilence')
    .description('end a silence before its time; alerts that it held back are told now, if they are open still')
    .argument('<id>', 'as `muster alert silences` shows it')
    .action(async (id: string) => {
      const { endAlertSilence } = await request(
        graphql(`mutation AlertUnsilence($id: ID!) {
          endAlertSilence(id: $id) { __typename ... on AlertSilence { reason } ... on Error { code message } }
        }`),
        { id: globalId('AlertSilence', id) },
      )
      process.stderr.write(`Ended: ${orThrow(endAlertSilence).reason}.\n`)
    })
