import { Command } from 'commander'
import { request } from '../../client.ts'
import { orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { alertIds } from './ids.ts'

export const alertEnd = () =>
  new Command('end')
    .description('end an alert of what is meant to stay so, such as accelerators that were taken out; others end by themselves')
    .argument('<id>', 'as `muster alert list` shows it')
    .option('--note <text>', 'why it is meant to stay')
    .action(async (asked: string, { note }: { note?: string }) => {
      const [id] = await alertIds([asked])
      const { endAlert } = await request(
        graphql(`mutation AlertEnd($id: ID!, $note: String) {
          endAlert(id: $id, note: $note) {
            __typename ... on Alert { text } ... on Error { code message } ... on InvalidInputError { issues { path message } }
          }
        }`),
        { id: id!, note: note ?? null },
      )
      process.stderr.write(`Over: ${orThrow(endAlert).text}.\n`)
    })
