import { graphql, type ResultOf, type VariablesOf } from '@/graphql/graphql.ts'

const PowerRunRowFragment = graphql(`
  fragment PowerRunRow on PowerRun {
    id action bootDevice status reason isForced parallelism delaySeconds targetCount canceledBy createdAt startedAt finishedAt
    createdBy { name }
    results { result count }
  }
`)
export type PowerRunRow = ResultOf<typeof PowerRunRowFragment>

export const PowerRunsQuery = graphql(
  `
  query PowerRunList($filter: PowerRunFilter, $first: Int, $after: String) {
    powerRuns(filter: $filter, first: $first, after: $after) {
      totalCount
      edges { node { ...PowerRunRow } }
      pageInfo { hasNextPage endCursor }
    }
  }
`,
  [PowerRunRowFragment],
)
export type PowerRunFilter = NonNullable<VariablesOf<typeof PowerRunsQuery>['filter']>

export const PowerRunQuery = graphql(
  `
  query PowerRunPage($id: ID!) { powerRun(id: $id) { ...PowerRunRow } }
`,
  [PowerRunRowFragment],
)

export const PowerRunHeadUpdated = graphql(
  `
  subscription PowerRunHeadUpdated($id: ID!) { powerRunUpdated(id: $id) { ...PowerRunRow } }
`,
  [PowerRunRowFragment],
)

export const PowerRunItemsQuery = graphql(`
  query PowerRunItemList($id: ID!, $result: [PowerResult!], $first: Int, $after: String) {
    powerRun(id: $id) {
      items(result: $result, first: $first, after: $after) {
        totalCount
        edges { node { nodeName node { id } before after sentAt result message } }
        pageInfo { hasNextPage endCursor }
      }
    }
  }
`)
type Items = NonNullable<ResultOf<typeof PowerRunItemsQuery>['powerRun']>['items']
export type PowerRunItem = Items['edges'][number]['node'] & { id: string }
export type PowerResult = NonNullable<PowerRunItem['result']>

const noItems: Items = { totalCount: 0, edges: [], pageInfo: { hasNextPage: false, endCursor: null } }
/** The page of items, which have their node's name as ID. */
export const pickItems = ({ powerRun }: ResultOf<typeof PowerRunItemsQuery>) => {
  const { edges, ...page } = powerRun?.items ?? noItems
  return { ...page, edges: edges.map(({ node }) => ({ node: { ...node, id: node.nodeName } })) }
}

export const powerRunHref = (id: string) => `/power/runs/${encodeURIComponent(id)}`
/** Results without the wanted effect. */
export const PROBLEMS = ['REFUSED', 'UNREACHABLE', 'NOT_VERIFIED', 'NOT_SENT'] as const satisfies PowerResult[]
