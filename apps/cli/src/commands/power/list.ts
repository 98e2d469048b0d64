import { request } from '../../client.ts'
import { Command, type Output } from '../../command.ts'
import { graphql } from '../../graphql.ts'
import { ago, printRows } from '../../output.ts'
import { fetchAll } from '../../pages.ts'
import { ONE_NODE_HELP, selectNode } from '../../selector.ts'

const RUNS = graphql(`query PowerRuns($filter: PowerRunFilter, $first: Int, $after: String) {
  powerRuns(filter: $filter, first: $first, after: $after) {
    edges { node { id action bootDevice status targetCount reason createdAt createdBy { name } results { result count } } }
    pageInfo { hasNextPage endCursor }
  }
}`)

export const powerList = () =>
  new Command('list')
    .description('list power runs, newest first')
    .option('--node <selector>', `power runs on ${ONE_NODE_HELP}`)
    .withOutput()
    .action(async ({ node, ...output }: Output & { node?: string }) => {
      const filter = node ? { nodeId: (await selectNode(node)).id } : {}
      const runs = await fetchAll(async (page) => (await request(RUNS, { filter, ...page })).powerRuns)
      printRows(
        runs.map((run) => ({ ...run, name: run.id })),
        [
          { title: 'ID', value: (r) => r.id },
          { title: 'ACTION', value: (r) => (r.bootDevice ? `${r.action} ${r.bootDevice}` : r.action) },
          { title: 'STATUS', value: (r) => r.status },
          { title: 'NODES', value: (r) => String(r.targetCount) },
          { title: 'RESULTS', value: (r) => r.results.map(({ result, count }) => `${count} ${result}`).join(', ') },
          { title: 'BY', value: (r) => r.createdBy.name },
          { title: 'AGE', value: (r) => ago(r.createdAt) },
          { title: 'REASON', value: (r) => r.reason },
        ],
        output,
        'No power runs.',
      )
    })
