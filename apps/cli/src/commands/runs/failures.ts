import { request } from '../../client.ts'
import { Command, type Output } from '../../command.ts'
import { graphql } from '../../graphql.ts'
import { integer } from '../../options.ts'
import { ago, printRows } from '../../output.ts'
import { fetchAll } from '../../pages.ts'
import { runId } from '../../run-id.ts'

const DAY_MS = 86_400_000

const FAILURES = graphql(`query RunsFailures($filter: FailureSignatureFilter, $first: Int, $after: String) {
  failureSignatures(filter: $filter, first: $first, after: $after) {
    edges { node { signature message count runCount hostCount hostlist lastSeenAt lastRun { id number } } } pageInfo { hasNextPage endCursor }
  }
}`)

export const runsFailures = () =>
  new Command('failures')
    .description('list failure messages, most frequent first, grouped over hosts and runs')
    .argument('[run]', 'only failures of this run: its number, ID or `last`')
    .option('--days <n>', 'period in days', integer, 30)
    .option('-n, --number <n>', 'maximum number of rows', integer, 20)
    .withOutput()
    .action(async (run: string | undefined, { days, number, ...output }: Output & { days: number; number: number }) => {
      const filter = run ? { runId: await runId(run) } : { createdAfter: new Date(Date.now() - days * DAY_MS).toISOString() }
      printRows(
        await fetchAll(async (page) => (await request(FAILURES, { filter, ...page })).failureSignatures, number),
        [
          { title: 'COUNT', value: (f) => f.count },
          { title: 'RUNS', value: (f) => f.runCount },
          { title: 'LAST', value: (f) => ago(f.lastSeenAt) },
          { title: 'HOSTS', value: (f) => f.hostlist },
          { title: 'LAST RUN', value: (f) => f.lastRun.number },
          { title: 'MESSAGE', value: (f) => f.message, wide: true },
        ],
        output,
        'No failures.',
      )
    })
