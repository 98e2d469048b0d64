import { Command } from 'commander'
import { request } from '../../client.ts'
import { orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { alertIds } from './ids.ts'

export const alertAck = () =>
  new Command('ack')
    .description('say that one looks after alerts; they stay open until what they tell of is over')
    .argument('<id...>', 'as `muster alert list` shows them')
    .option('--note <text>', 'what is known, and what is being done')
    .action(async (ids: string[], { note }: { note?: string }) => {
      const { acknowledgeAlerts } = await request(
        graphql(`mutation AlertAck($ids: [ID!]!, $note: String) {
          acknowledgeAlerts(ids: $ids, note: $note) {
            __typename ... on AcknowledgedAlerts { alerts { text } } ... on Error { code message } ... on InvalidInputError { issues { path message } }
          }
        }`),
        { ids: await alertIds(ids), note: note ?? null },
      )
      for (const { text } of orThrow(acknowledgeAlerts).alerts) process.stderr.write(`You look after: ${text}.\n`)
    })
