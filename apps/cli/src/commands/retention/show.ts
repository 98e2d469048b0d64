import { Command } from 'commander'
import { request } from '../../client.ts'
import { graphql } from '../../graphql.ts'
import { type Format, outputOption, printObject } from '../../output.ts'

type Days = { logDays: number | null; artifactDays: number | null; runDays: number | null }

export const retentionShow = () =>
  new Command('show')
    .description('for how long logs, artifacts and runs are kept after a run has ended')
    .addOption(outputOption())
    .action(async ({ output }: { output: Format }) => {
      const { retention } = await request(graphql(`query Retention { retention { logDays artifactDays runDays } }`), {})
      printRetention(retention, output)
    })

export function printRetention({ logDays, artifactDays, runDays }: Days, output: Format): void {
  const kept = (days: number | null) => (days === null ? 'for ever' : `${days} ${days === 1 ? 'day' : 'days'}`)
  printObject({ logDays, artifactDays, runDays }, output, [
    ['logs', kept(logDays)],
    ['artifacts', kept(artifactDays)],
    ['runs', kept(runDays)],
  ])
}
