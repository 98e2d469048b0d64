import { request } from '../../../client.ts'
import { Command, type Output } from '../../../command.ts'
import { CliError, EXIT, orThrow } from '../../../errors.ts'
import { graphql } from '../../../graphql.ts'
import { integer, omitUndefined } from '../../../options.ts'
import { askSecrets } from '../../../prompt.ts'
import { printSink, SINK } from './get.ts'

const SET = graphql(
  `mutation LedgerSinkSet($input: SetLedgerSinkInput!) {
    setLedgerSink(input: $input) {
      __typename
      ... on SetLedgerSinkPayload { sink { ...LedgerSinkFields } }
      ... on Error { code message }
      ... on InvalidInputError { issues { path message } }
    }
  }`,
  [SINK],
)

const KNOWN = graphql(`query LedgerSinkKnown { ledger { sink { name } } }`)

type Options = Output & {
  name?: string
  url?: true
  key?: true
  stdin?: true
  chainId?: string
  addressPrefix?: string
  typeUrl?: string
  providerAddress?: string
  feeDenom?: string
  feePerNode?: number
  gasPerNode?: number
  enable?: true
  disable?: true
}

export const ledgerSinkSet = () =>
  new Command('set')
    .description('set or change the chain that gets the entries; asks for the address and key of a new one')
    .option('--name <name>', 'name')
    .option('--chain-id <id>', 'ID of the chain; another one starts from the first entry')
    .option('--address-prefix <prefix>', 'prefix of the addresses of the chain, such as akash')
    .option('--fee-denom <denom>', 'denomination of the fee, such as uakt')
    .option('--fee-per-node <amount>', 'fee for each message', integer)
    .option('--gas-per-node <gas>', 'gas limit for each message', integer)
    .option('--type-url <url>', 'type URL of the messages')
    .option('--provider-address <address>', 'provider_address of the messages; none: the address of the account')
    .option('--url', 'ask for the address of the CometBFT RPC')
    .option('--key', 'ask for the secp256k1 key of the account, 64 hexadecimal digits')
    .option('--stdin', 'read the address and the key from standard input, one per line')
    .option('--enable', 'deliver entries')
    .option('--disable', 'deliver nothing')
    .withOutput()
    .action(async ({ output, headers, url, key, stdin, enable, disable, providerAddress, ...rest }: Options) => {
      if (enable && disable) throw new CliError('Specify --enable or --disable, not both.', EXIT.usage)
      const isNew = (await request(KNOWN, {})).ledger.sink === null
      const asked = [
        ...(url || isNew ? [{ field: 'url' as const, question: 'Address of the CometBFT RPC' }] : []),
        ...(key || isNew ? [{ field: 'privateKey' as const, question: 'Private key' }] : []),
      ]
      const secrets = asked.length > 0 ? await askSecrets(asked, stdin) : {}
      const input = {
        ...omitUndefined({ ...rest, isEnabled: enable ?? (disable ? false : undefined) }),
        ...(providerAddress === undefined ? {} : { providerAddress: providerAddress === 'none' ? null : providerAddress }),
        ...secrets,
      }
      if (Object.keys(input).length === 0) throw new CliError('Specify at least one option; see --help.', EXIT.usage)
      printSink(orThrow((await request(SET, { input })).setLedgerSink).sink, { output, headers })
    })
