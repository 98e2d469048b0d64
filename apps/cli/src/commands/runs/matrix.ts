import { request } from '../../client.ts'
import { Command, type Output } from '../../command.ts'
import { graphql } from '../../graphql.ts'
import { runNotFound } from '../../lookup.ts'
import { clock, isTable, printRows } from '../../output.ts'
import { fetchAll } from '../../pages.ts'
import { RUN_HELP, runId } from '../../run-id.ts'

const MATRIX = graphql(`query RunsMatrix($id: ID!, $first: Int, $after: String) {
  node(id: $id) { __typename ... on JobRun { matrix(first: $first, after: $after) {
    edges { node { play task action cells { result isIgnored message count hostlist maxDurationMs } } } pageInfo { hasNextPage endCursor }
  } } }
}`)

export const runsMatrix = () =>
  new Command('matrix')
    .description('show the result of each task, with equal hosts grouped')
    .argument('<run>', RUN_HELP)
    .withOutput()
    .action(async (idText: string, output: Output) => {
      const id = await runId(idText)
      const matrix = await fetchAll(async (page) => {
        const { node } = await request(MATRIX, { id, ...page })
        if (node?.__typename !== 'JobRun') throw runNotFound(idText)
        return node.matrix
      })
      const rows = isTable(output)
        ? matrix.flatMap(({ task, cells }) => cells.map((cell, i) => ({ ...cell, task: i === 0 ? task : '' })))
        : matrix
      printRows<Partial<(typeof matrix)[number]['cells'][number]> & { task: string | null }>(
        rows,
        [
          { title: 'TASK', value: (r) => r.task || ' ' },
          { title: 'RESULT', value: (r) => (r.isIgnored ? `${r.result} (ignored)` : r.result) },
          { title: 'N', value: (r) => r.count },
          { title: 'MAX TIME', value: (r) => clock(r.maxDurationMs) },
          { title: 'HOSTS', value: (r) => r.hostlist },
          { title: 'MESSAGE', value: (r) => r.message, wide: true },
        ],
        output,
        'No finished tasks yet.',
      )
    })
