import { request } from '../../client.ts'
import { Command } from '../../command.ts'
import { orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { alertIds } from './ids.ts'

export const alertResolve = () =>
  new Command('resolve')
    .description('resolve an alert about an intended change, such as removed accelerators; other alerts resolve automatically')
    .argument('<id>', 'alert ID, see `muster alert list`')
    .option('--note <text>', 'reason')
    .action(async (text: string, { note }: { note?: string }) => {
      const [id] = await alertIds([text])
      const { resolveAlertManually } = await request(
        graphql(`mutation AlertResolve($id: ID!, $note: String) {
          resolveAlertManually(input: { id: $id, note: $note }) {
            __typename ... on ResolveAlertManuallyPayload { alert { message } } ... on Error { code message } ... on InvalidInputError { issues { path message } }
          }
        }`),
        { id: id!, note: note ?? null },
      )
      process.stderr.write(`Resolved: ${orThrow(resolveAlertManually).alert.message}.\n`)
    })
