import { request } from '../../client.ts'
import { Command, type Output } from '../../command.ts'
import { graphql, type ResultOf } from '../../graphql.ts'
import { ago, printObject } from '../../output.ts'

const GET = graphql(`query LedgerGet {
  ledger { isEnabled intervalSeconds maxAgeSeconds recordedAt verifierKeys checkpoint { size note createdAt } }
}`)

export const ledgerGet = () =>
  new Command('get')
    .description('show the settings, the newest checkpoint and the public keys of the ledger of node metadata')
    .withOutput()
    .action(async (output: Output) => printLedger((await request(GET, {})).ledger, output))

export function printLedger(ledger: ResultOf<typeof GET>['ledger'], output: Output): void {
  const { isEnabled, intervalSeconds, maxAgeSeconds, recordedAt, verifierKeys, checkpoint } = ledger
  printObject(ledger, output, [
    ['Records', isEnabled ? `every ${intervalSeconds} s, unchanged nodes every ${maxAgeSeconds} s` : 'disabled'],
    ['Last batch', recordedAt && ago(recordedAt)],
    ['Entries', checkpoint?.size ?? 0],
    ...verifierKeys.map((key): [string, string] => ['Key', key]),
    ['Checkpoint', checkpoint && `\n${checkpoint.note}`],
  ])
}
