import { request } from '../../../client.ts'
import { Command } from '../../../command.ts'
import { orThrow } from '../../../errors.ts'
import { graphql } from '../../../graphql.ts'

const REMOVE = graphql(`mutation LedgerSinkRemove {
  removeLedgerSink { __typename ... on RemoveLedgerSinkPayload { ledger { isEnabled } } ... on Error { code message } }
}`)

export const ledgerSinkRemove = () =>
  new Command('remove').description('remove the chain and its receipts; entries remain').action(async () => {
    orThrow((await request(REMOVE, {})).removeLedgerSink)
    process.stdout.write('Removed the sink of the ledger.\n')
  })
