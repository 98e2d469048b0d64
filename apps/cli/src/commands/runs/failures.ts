import { Command } from 'commander'
import { request } from '../../client.ts'
import { graphql } from '../../graphql.ts'
import { bareId, runId } from '../../ids.ts'
import { integer } from '../../options.ts'
import { ago, type Format, outputOption, printRows } from '../../output.ts'

const DAY_MS = 86_400_000

export const runsFailures = () =>
  new Command('failures')
    .description('what runs failed with, the most frequent first; the same failure on other hosts counts as one')
    .argument('[run]', 'only of this run, or `last`')
    .option('--days <n>', 'of how many days', integer, 30)
    .option('-n, --number <n>', 'how many, at most 200', integer, 20)
    .addOption(outputOption())
    .action(async (run: string | undefined, { output, days, number }: { output: Format; days: number; number: number }) => {
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
          { title: 'TIMES', value: (f) => f.count },
          { title: 'RUNS', value: (f) => f.runs },
          { title: 'LAST', value: (f) => ago(f.lastAt) },
          { title: 'HOSTS', value: (f) => f.hostlist },
          { title: 'LAST RUN', value: (f) => bareId(f.lastRun.id) },
          { title: 'MESSAGE', value: (f) => f.message, spare: true },
        ],
        output,
        'Nothing failed.',
      )
    })
