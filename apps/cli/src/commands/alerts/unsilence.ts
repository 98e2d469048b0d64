import { request } from '../../client.ts'
import { Command } from '../../command.ts'
import { orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { globalId } from '../../ids.ts'

export const alertUnsilence = () =>
  new Command('unsilence')
    .description('end a silence early; silenced alerts that are still open are sent now')
    .argument('<id>', 'silence ID, see `muster alert silences`')
    .action(async (id: string) => {
      const { endAlertSilence } = await request(
        graphql(`mutation AlertUnsilence($id: ID!) {
          endAlertSilence(input: { id: $id }) { __typename ... on EndAlertSilencePayload { alertSilence { reason } } ... on Error { code message } }
        }`),
        { id: globalId('AlertSilence', id) },
      )
      process.stderr.write(`Ended: ${orThrow(endAlertSilence).alertSilence.reason}.\n`)
    })
