import { graphql, type ResultOf, type VariablesOf } from '@/graphql/graphql.ts'

export const GroupsQuery = graphql(`
  query NodeGroups($filter: NodeGroupFilter, $first: Int, $after: String) {
    nodeGroups(filter: $filter, first: $first, after: $after) {
      totalCount
      edges { node { id name displayName description kind priority memberQuery exclusiveSet nodeCount parent { id name } } }
      pageInfo { hasNextPage endCursor }
    }
  }
`)
export type GroupRow = ResultOf<typeof GroupsQuery>['nodeGroups']['edges'][number]['node']
export type GroupKind = GroupRow['kind']
export const groupKinds = ['AD_HOC', 'PROJECT', 'PARTITION', 'JOB'] as const satisfies readonly GroupKind[]

const GroupFragment = graphql(`
  fragment NodeGroupPage on NodeGroup {
    id name displayName description kind priority isSystem memberQuery exclusiveSet nodeCount grantCount
    parent { id name }
    children(first: 100) { totalCount edges { node { id name } } }
    vars { id vars { name } }
    bootAssignments(first: 100) { totalCount edges { node { id priority profile { id name } } } }
    updateBlockedReason renameBlockedReason setMembersBlockedReason deleteBlockedReason
  }
`)
export type Group = ResultOf<typeof GroupFragment>

export const GroupQuery = graphql(
  `
  query NodeGroup($id: ID!) {
    node(id: $id) { __typename ... on NodeGroup { ...NodeGroupPage } }
  }
`,
  [GroupFragment],
)

export const MembersQuery = graphql(`
  query NodeGroupMembers($id: ID!, $first: Int, $after: String) {
    node(id: $id) {
      __typename
      ... on NodeGroup {
        id
        nodes(first: $first, after: $after) {
          totalCount
          edges { node { id name displayName status statusReason hostKeyAlarm { offeredFingerprint approvedFingerprint offeredAt isChanged } } }
          pageInfo { hasNextPage endCursor }
        }
      }
    }
  }
`)
type GroupOf<T> = Extract<NonNullable<T>, { __typename: 'NodeGroup' }>
export type MemberRow = GroupOf<ResultOf<typeof MembersQuery>['node']>['nodes']['edges'][number]['node']

/** Groups to choose from: their name or description contains a text. */
export const GroupNamesQuery = graphql(`
  query NodeGroupNames($filter: NodeGroupFilter) {
    nodeGroups(filter: $filter, first: 20) { totalCount edges { node { id name } } }
  }
`)

export const GroupByName = graphql(`
  query NodeGroupByName($name: String!) {
    nodeGroup(name: $name) { id }
  }
`)

/** The nodes that an expression or a query matches. */
export const MatchingNodes = graphql(`
  query NodesOfGroupQuery($filter: NodeFilter, $first: Int, $after: String) {
    nodes(filter: $filter, first: $first, after: $after) {
      totalCount
      edges { node { id name } }
      pageInfo { hasNextPage endCursor }
    }
  }
`)
export type MatchFilter = NonNullable<VariablesOf<typeof MatchingNodes>['filter']>

export const CreateGroup = graphql(`
  mutation CreateNodeGroup($input: CreateNodeGroupInput!) {
    createNodeGroup(input: $input) {
      __typename
      ... on CreateNodeGroupPayload { nodeGroup { id name } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`)
export type GroupInput = VariablesOf<typeof CreateGroup>['input']

export const UpdateGroup = graphql(`
  mutation UpdateNodeGroup($input: UpdateNodeGroupInput!) {
    updateNodeGroup(input: $input) {
      __typename
      ... on UpdateNodeGroupPayload { nodeGroup { id name } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`)

export const DeleteGroup = graphql(`
  mutation DeleteNodeGroup($input: DeleteNodeGroupInput!) {
    deleteNodeGroup(input: $input) {
      __typename
      ... on DeleteNodeGroupPayload { deletedId }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`)

export const SetMembers = graphql(`
  mutation SetNodeGroupMembers($input: SetNodeGroupMembersInput!) {
    setNodeGroupMembers(input: $input) {
      __typename
      ... on SetNodeGroupMembersPayload { nodeGroup { id nodeCount } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`)

export const groupHref = (id: string): string => `/groups/${encodeURIComponent(id)}`
