import { request } from '../../../client.ts'
import { Command, type Output } from '../../../command.ts'
import { CliError, EXIT } from '../../../errors.ts'
import { graphql, type ResultOf } from '../../../graphql.ts'
import { ago, printObject } from '../../../output.ts'

export const SINK = graphql(`fragment LedgerSinkFields on LedgerSink {
  name origin chainId addressPrefix address providerAddress typeUrl feeDenom feePerNode gasPerNode isEnabled
  deliveredSize deliveredAt failingSince lastError receipts { transactionHash height fromSize toSize createdAt }
}`)
const GET = graphql(`query LedgerSinkGet { ledger { checkpoint { size } sink { ...LedgerSinkFields } } }`, [SINK])

export const ledgerSinkGet = () =>
  new Command('get')
    .description('show the chain that gets the entries, and its last transactions')
    .withOutput()
    .action(async (output: Output) => {
      const { sink, checkpoint } = (await request(GET, {})).ledger
      if (!sink) throw new CliError('The ledger has no sink. Set one with `muster ledger sink set`.', EXIT.notFound)
      printSink(sink, output, checkpoint?.size)
    })

export function printSink(sink: ResultOf<typeof SINK>, output: Output, size?: number): void {
  printObject(sink, output, [
    ['Chain', `${sink.chainId} at ${sink.origin}`],
    ['Account', sink.address],
    ['Message', sink.typeUrl],
    ['Fee', `${sink.feePerNode} ${sink.feeDenom} and ${sink.gasPerNode} gas per node`],
    ['Delivers', sink.isEnabled ? 'yes' : 'disabled'],
    ['Delivered', `${sink.deliveredSize}${size === undefined ? '' : ` of ${size}`} entries`],
    ['Last delivery', sink.deliveredAt && ago(sink.deliveredAt)],
    ['Failing since', sink.failingSince && ago(sink.failingSince)],
    ['Error', sink.lastError],
    ...sink.receipts.map(({ transactionHash, height }): [string, string] => [`Block ${height}`, transactionHash]),
  ])
}
