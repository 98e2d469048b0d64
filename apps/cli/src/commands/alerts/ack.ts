import { request } from '../../client.ts'
import { Command } from '../../command.ts'
import { orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { alertIds } from './ids.ts'

export const alertAck = () =>
  new Command('ack')
    .description('acknowledge alerts; they stay open until their cause ends')
    .argument('<id...>', 'alert IDs, see `muster alert list`')
    .option('--note <text>', 'what is known and what is being done')
    .action(async (ids: string[], { note }: { note?: string }) => {
      const { acknowledgeAlerts } = await request(
        graphql(`mutation AlertAck($ids: [ID!]!, $note: String) {
          acknowledgeAlerts(input: { ids: $ids, note: $note }) {
            __typename ... on AcknowledgeAlertsPayload { alerts { message } } ... on Error { code message } ... on InvalidInputError { issues { path message } }
          }
        }`),
        { ids: await alertIds(ids), note: note ?? null },
      )
      for (const { message } of orThrow(acknowledgeAlerts).alerts) process.stderr.write(`Acknowledged: ${message}.\n`)
    })
