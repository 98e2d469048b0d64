import { request } from '../../client.ts'
import { Command, type Output } from '../../command.ts'
import { graphql, type ResultOf } from '../../graphql.ts'
import { integer, omitUndefined } from '../../options.ts'
import { ago, type Column, printRows } from '../../output.ts'
import { fetchAll } from '../../pages.ts'
import { ONE_NODE_HELP, selectNode } from '../../selector.ts'

const LIST = graphql(`query LedgerList($filter: LedgerEntryFilter, $first: Int, $after: String) {
  ledgerEntries(filter: $filter, first: $first, after: $after) {
    edges { node { seq nodeName record createdAt } }
    pageInfo { hasNextPage endCursor }
  }
}`)
type Entry = Omit<ResultOf<typeof LIST>['ledgerEntries']['edges'][number]['node'], 'record'> & { record: Record<string, unknown> }

const COLUMNS: Column<Entry>[] = [
  { title: 'SEQ', value: ({ seq }) => String(seq) },
  { title: 'TIME', value: ({ createdAt }) => ago(createdAt) },
  { title: 'NODE', value: ({ nodeName }) => nodeName },
  { title: 'STATE', value: ({ record }) => String(record.state) },
  { title: 'HEALTH', value: ({ record }) => String(record.health) },
  {
    title: 'SEQUENCE',
    value: ({ record }) => (record.last_sequence_number === null ? null : String(record.last_sequence_number)),
  },
  { title: 'REGION', value: ({ record }) => record.region as string | null, wide: true },
  { title: 'AGENT', value: ({ record }) => record.agent_version as string | null, wide: true },
]

export const ledgerList = () =>
  new Command('list')
    .description('list entries of the ledger, oldest first')
    .option('--node <selector>', `entries of ${ONE_NODE_HELP}`)
    .option('--from <seq>', 'entries at this position or later', integer)
    .option('-n, --number <n>', 'maximum number of rows', integer, 100)
    .withOutput()
    .action(async ({ node, from, number, ...output }: Output & { node?: string; from?: number; number: number }) => {
      const filter = omitUndefined({ nodeId: node ? (await selectNode(node)).id : undefined, fromSeq: from })
      const rows = await fetchAll(async (page) => (await request(LIST, { filter, ...page })).ledgerEntries, number)
      const entries = rows.map((row) => ({ ...row, record: JSON.parse(row.record) as Record<string, unknown> }))
      printRows(entries, COLUMNS, output, 'No entries.')
    })
