import { graphql, type ResultOf } from '@/graphql/graphql.ts'

const NodeBootsFragment = graphql(`
  fragment NodeBoots on ComputeNode {
    id
    bootAttempts(first: 10) {
      edges {
        node {
          id state cause mac profile profileVersion startedAt finishedAt
          timeline { stage reachedAt durationMs }
          stuck { stage since }
          fetches { kind hash profile profileVersion hasToken refusal count firstAt lastAt address }
        }
      }
    }
  }
`)

export const NodeBootsQuery = graphql(
  `
  query NodeBoots($id: ID!) {
    node(id: $id) { __typename ... on ComputeNode { ...NodeBoots } }
  }
`,
  [NodeBootsFragment],
)

export const NodeBootUpdated = graphql(
  `
  subscription NodeBootUpdated($id: ID!) {
    nodeBootUpdated(id: $id) { ...NodeBoots }
  }
`,
  [NodeBootsFragment],
)
type QueriedNode = NonNullable<ResultOf<typeof NodeBootsQuery>['node']>
export type Boot = Extract<QueriedNode, { __typename: 'ComputeNode' }>['bootAttempts']['edges'][number]['node']

export const BootPreviewQuery = graphql(`
  query NodeBootPreview($id: ID!) {
    bootPreview(nodeId: $id) { profile profileVersion reason files { kind content hash origins { name version } } }
  }
`)
