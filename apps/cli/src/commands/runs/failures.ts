import { request } from '../../client.ts'
import { Command, type Output } from '../../command.ts'
import { graphql } from '../../graphql.ts'
import { bareId } from '../../ids.ts'
import { integer } from '../../options.ts'
import { ago, printRows } from '../../output.ts'
import { runId } from '../../run-id.ts'

const DAY_MS = 86_400_000

export const runsFailures = () =>
  new Command('failures')
    .description('list failure messages, most frequent first, grouped over hosts and runs')
    .argument('[run]', 'only failures of this run (ID or `last`)')
    .option('--days <n>', 'period in days', integer, 30)
    .option('-n, --number <n>', 'maximum number of rows, at most 200', integer, 20)
    .withOutput()
    .action(async (run: string | undefined, { days, number, ...output }: Output & { days: number; number: number }) => {
      const { failureSignatures } = await request(
        graphql(`query RunsFailures($runId: ID, $since: DateTime, $first: Int) {
          failureSignatures(runId: $runId, since: $since, first: $first) { signature message count runs hostCount hostlist lastAt lastRun { id } }
        }`),
        {
          runId: run ? await runId(run) : null,
          since: run ? null : new Date(Date.now() - days * DAY_MS).toISOString(),
          first: number,
        },
      )
      printRows(
        failureSignatures,
        [
          { title: 'COUNT', value: (f) => f.count },
          { title: 'RUNS', value: (f) => f.runs },
          { title: 'LAST', value: (f) => ago(f.lastAt) },
          { title: 'HOSTS', value: (f) => f.hostlist },
          { title: 'LAST RUN', value: (f) => bareId(f.lastRun.id) },
          { title: 'MESSAGE', value: (f) => f.message, wide: true },
        ],
        output,
        'No failures.',
      )
    })
