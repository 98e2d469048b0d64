import { request } from '../../../client.ts'
import { Command, type Output } from '../../../command.ts'
import { graphql } from '../../../graphql.ts'
import { printObject } from '../../../output.ts'

type Days = { logDays: number | null; artifactDays: number | null; runDays: number | null; auditDays: number | null }

export const retentionGet = () =>
  new Command('get')
    .description('show how long logs, artifacts and runs are kept after a run ends, and the audit log')
    .withOutput()
    .action(async (output: Output) => {
      const { retention } = await request(graphql(`query Retention { retention { logDays artifactDays runDays auditDays } }`), {})
      printRetention(retention, output)
    })

export function printRetention({ logDays, artifactDays, runDays, auditDays }: Days, output: Output): void {
  const kept = (days: number | null) => (days === null ? 'forever' : `${days} ${days === 1 ? 'day' : 'days'}`)
  printObject({ logDays, artifactDays, runDays, auditDays }, output, [
    ['logs', kept(logDays)],
    ['artifacts', kept(artifactDays)],
    ['runs', kept(runDays)],
    ['audit log', kept(auditDays)],
  ])
}
