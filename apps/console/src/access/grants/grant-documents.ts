import { graphql, type ResultOf } from '@/graphql/graphql.ts'

export const GrantsQuery = graphql(`
  query Grants($first: Int, $after: String) {
    grants(first: $first, after: $after) {
      edges {
        node {
          id role createdAt deleteBlockedReason
          createdBy { name }
          member { id user { name } }
          nodeGroup { id name nodeCount }
          slurmCluster { id name }
          partitions
          jobTemplates { id name displayName }
          credentials { id name }
        }
      }
      pageInfo { hasNextPage endCursor }
    }
  }
`)
export type Grant = ResultOf<typeof GrantsQuery>['grants']['edges'][number]['node']

export const CreateGrant = graphql(`
  mutation CreateGrant($input: CreateGrantInput!) {
    createGrant(input: $input) {
      __typename
      ... on CreateGrantPayload { grant { id } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`)

export const DeleteGrant = graphql(`
  mutation DeleteGrant($id: ID!) {
    deleteGrant(input: { id: $id }) {
      __typename
      ... on DeleteGrantPayload { deletedId }
      ... on Error { message code }
    }
  }
`)

export const MemberChoicesQuery = graphql(`
  query MemberChoices($first: Int, $after: String) {
    members(first: $first, after: $after) {
      edges { node { id user { name email isServiceAccount } } }
      pageInfo { hasNextPage endCursor }
    }
  }
`)

export const NodeGroupChoicesQuery = graphql(`
  query NodeGroupChoices($first: Int, $after: String) {
    nodeGroups(first: $first, after: $after) {
      edges { node { id name } }
      pageInfo { hasNextPage endCursor }
    }
  }
`)

export const TemplateChoicesQuery = graphql(`
  query TemplateChoices($first: Int, $after: String) {
    jobTemplates(first: $first, after: $after) {
      edges { node { id name displayName } }
      pageInfo { hasNextPage endCursor }
    }
  }
`)

export const CredentialChoicesQuery = graphql(`
  query CredentialChoices($first: Int, $after: String) {
    credentials(first: $first, after: $after) {
      edges { node { id name } }
      pageInfo { hasNextPage endCursor }
    }
  }
`)

export const ClusterChoicesQuery = graphql(`
  query ClusterChoices($first: Int, $after: String) {
    slurmClusters(first: $first, after: $after) {
      edges { node { id name } }
      pageInfo { hasNextPage endCursor }
    }
  }
`)

export const PartitionChoicesQuery = graphql(`
  query PartitionChoices($id: ID!, $first: Int, $after: String) {
    slurmCluster(id: $id) {
      id
      partitions(first: $first, after: $after) {
        edges { node { id name } }
        pageInfo { hasNextPage endCursor }
      }
    }
  }
`)
