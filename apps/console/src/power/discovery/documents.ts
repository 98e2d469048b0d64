import { graphql, type ResultOf, type VariablesOf } from '@/graphql/graphql.ts'

const DiscoveryFragment = graphql(`
  fragment BmcDiscovery on BmcDiscovery {
    id addresses port status addressCount probedCount foundCount error createdAt finishedAt
    createdBy { name }
  }
`)
export type BmcDiscovery = ResultOf<typeof DiscoveryFragment>

export const BmcDiscoveriesQuery = graphql(
  `
  query BmcDiscoveries($first: Int, $after: String) {
    bmcDiscoveries(first: $first, after: $after) {
      totalCount
      edges { node { ...BmcDiscovery } }
      pageInfo { hasNextPage endCursor }
    }
  }
`,
  [DiscoveryFragment],
)

export const BmcDiscoveryQuery = graphql(
  `
  query BmcDiscoveryPage($id: ID!) { bmcDiscovery(id: $id) { ...BmcDiscovery caCertificate credential { id } } }
`,
  [DiscoveryFragment],
)
export type BmcDiscoveryPage = NonNullable<ResultOf<typeof BmcDiscoveryQuery>['bmcDiscovery']>

export const BmcDiscoveryUpdated = graphql(
  `
  subscription BmcDiscoveryUpdated($id: ID!) { bmcDiscoveryUpdated(id: $id) { ...BmcDiscovery } }
`,
  [DiscoveryFragment],
)

export const FoundBmcsQuery = graphql(`
  query FoundBmcs($id: ID!, $first: Int, $after: String) {
    bmcDiscovery(id: $id) {
      found(first: $first, after: $after) {
        totalCount
        edges {
          node {
            address port systemPath fingerprint product powerState message matchedBy conflict
            node { id name }
            inventory { manufacturer model serial macs }
          }
        }
        pageInfo { hasNextPage endCursor }
      }
    }
  }
`)
type Found = NonNullable<ResultOf<typeof FoundBmcsQuery>['bmcDiscovery']>['found']
export type FoundBmc = Found['edges'][number]['node'] & { id: string }

const nothing: Found = { totalCount: 0, edges: [], pageInfo: { hasNextPage: false, endCursor: null } }
/** The page of found BMCs; an address and the path of a system identify one. */
export const pickFound = ({ bmcDiscovery }: ResultOf<typeof FoundBmcsQuery>) => {
  const { edges, ...page } = bmcDiscovery?.found ?? nothing
  return { ...page, edges: edges.map(({ node }) => ({ node: { ...node, id: `${node.address} ${node.systemPath ?? ''}` } })) }
}

export const DiscoverBmcs = graphql(`
  mutation StartBmcDiscovery($input: DiscoverBmcsInput!) {
    discoverBmcs(input: $input) {
      __typename
      ... on DiscoverBmcsPayload { bmcDiscovery { id } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`)

export const CancelBmcDiscovery = graphql(
  `
  mutation CancelBmcDiscovery($id: ID!) {
    cancelBmcDiscovery(input: { id: $id }) {
      __typename
      ... on CancelBmcDiscoveryPayload { bmcDiscovery { ...BmcDiscovery } }
      ... on Error { message code }
    }
  }
`,
  [DiscoveryFragment],
)

export const AssignBmc = graphql(`
  mutation AssignBmc($input: SetNodeBmcInput!) {
    setNodeBmc(input: $input) {
      __typename
      ... on SetNodeBmcPayload { node { id name } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`)
export type AssignInput = VariablesOf<typeof AssignBmc>['input']

export const discoveryHref = (id: string) => `/power/discoveries/${encodeURIComponent(id)}`
