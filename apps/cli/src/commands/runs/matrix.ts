import { Command } from 'commander'
import { request } from '../../client.ts'
import { graphql } from '../../graphql.ts'
import { noRun, runId } from '../../ids.ts'
import { clock, type Format, outputOption, printRows } from '../../output.ts'

export const runsMatrix = () =>
  new Command('matrix')
    .description('what each task came to; hosts with the same result stand together')
    .argument('<run>', 'id of the run, or `last`')
    .addOption(outputOption())
    .action(async (idText: string, { output }: { output: Format }) => {
      const { node } = await request(
        graphql(`query RunsMatrix($id: ID!) {
          node(id: $id) { __typename ... on JobRun { matrix { play task action cells { result isIgnored message count hostlist maxDurationMs } } } }
        }`),
        { id: await runId(idText) },
      )
      if (node?.__typename !== 'JobRun') throw noRun(idText)
      const rows =
        output === 'table'
          ? node.matrix.flatMap(({ task, cells }) => cells.map((cell, i) => ({ ...cell, task: i === 0 ? task : '' })))
          : node.matrix
      printRows<Partial<(typeof node.matrix)[number]['cells'][number]> & { task: string | null }>(
        rows,
        [
          { title: 'TASK', value: (r) => r.task || ' ' },
          { title: 'RESULT', value: (r) => (r.isIgnored ? `${r.result} (ignored)` : r.result) },
          { title: 'N', value: (r) => r.count },
          { title: 'LONGEST', value: (r) => clock(r.maxDurationMs) },
          { title: 'HOSTS', value: (r) => r.hostlist },
          { title: 'MESSAGE', value: (r) => r.message, spare: true },
        ],
        output,
        'No task has ended yet.',
      )
    })
