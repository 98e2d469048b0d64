import { request } from '../../client.ts'
import { Command, type Output } from '../../command.ts'
import { CliError, EXIT, orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { integer, omitUndefined } from '../../options.ts'
import { printLedger } from './get.ts'

const SET = graphql(`mutation LedgerSet($input: UpdateLedgerSettingsInput!) {
  updateLedgerSettings(input: $input) {
    __typename
    ... on UpdateLedgerSettingsPayload {
      ledger { isEnabled intervalSeconds maxAgeSeconds recordedAt verifierKeys checkpoint { size note createdAt } }
    }
    ... on Error { code message }
    ... on InvalidInputError { issues { path message } }
  }
}`)

type Options = Output & { enable?: true; disable?: true; interval?: number; maxAge?: number }

export const ledgerSet = () =>
  new Command('set')
    .description('enable, disable or change the ledger of node metadata')
    .option('--enable', 'record node metadata')
    .option('--disable', 'record nothing; entries remain')
    .option('--interval <seconds>', 'time between batches', integer)
    .option('--max-age <seconds>', 'record nodes again after this time when only their measurements changed', integer)
    .withOutput()
    .action(async ({ enable, disable, interval, maxAge, ...output }: Options) => {
      if (enable && disable) throw new CliError('Specify --enable or --disable, not both.', EXIT.usage)
      const isEnabled = enable ?? (disable ? false : undefined)
      const input = omitUndefined({ isEnabled, intervalSeconds: interval, maxAgeSeconds: maxAge })
      if (Object.keys(input).length === 0) throw new CliError('Specify at least one option; see --help.', EXIT.usage)
      printLedger(orThrow((await request(SET, { input })).updateLedgerSettings).ledger, output)
    })
