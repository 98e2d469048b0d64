import { graphql, type ResultOf, type VariablesOf } from '@/graphql/graphql.ts'

const SnippetFragment = graphql(`
  fragment SlurmSnippetRow on SlurmConfigSnippet {
    id name version regions updatedAt clusterCount chosenClusters { id name }
    files { name text }
    clusters { state message cluster { id name } }
  }
`)
export type SnippetRow = ResultOf<typeof SnippetFragment>
export type ClusterSnippet = Pick<SnippetRow['clusters'][number], 'state' | 'message'>

export const SnippetsQuery = graphql(
  `
  query SlurmSnippets($first: Int, $after: String) {
    slurmConfigSnippets(first: $first, after: $after) {
      totalCount
      edges { node { ...SlurmSnippetRow } }
      pageInfo { hasNextPage endCursor }
    }
  }
`,
  [SnippetFragment],
)

export const ClusterSnippetsQuery = graphql(`
  query SlurmClusterSnippets($id: ID!) {
    slurmCluster(id: $id) { id configSnippets { name state message } }
  }
`)

/** Clusters with snippets that are not applied. */
export const UnappliedQuery = graphql(`
  query SlurmUnappliedSnippets {
    slurmClustersWithUnappliedSnippets { id name }
  }
`)

export const SnippetPreviewQuery = graphql(`
  query SlurmSnippetPreview($id: ID!) {
    slurmCluster(id: $id) { id configSnippetPreview { fingerprint blockedReason diff { file lines { kind text } } } }
  }
`)
export type SnippetPreview = NonNullable<
  NonNullable<ResultOf<typeof SnippetPreviewQuery>['slurmCluster']>['configSnippetPreview']
>

export const CreateSnippet = graphql(
  `
  mutation CreateSlurmConfigSnippet($input: CreateSlurmConfigSnippetInput!) {
    createSlurmConfigSnippet(input: $input) {
      __typename
      ... on CreateSlurmConfigSnippetPayload { slurmConfigSnippet { ...SlurmSnippetRow } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`,
  [SnippetFragment],
)
export type SnippetFilesInput = VariablesOf<typeof CreateSnippet>['input']['files']

export const UpdateSnippet = graphql(
  `
  mutation UpdateSlurmConfigSnippet($input: UpdateSlurmConfigSnippetInput!) {
    updateSlurmConfigSnippet(input: $input) {
      __typename
      ... on UpdateSlurmConfigSnippetPayload { slurmConfigSnippet { ...SlurmSnippetRow } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`,
  [SnippetFragment],
)

export const DeleteSnippet = graphql(`
  mutation DeleteSlurmConfigSnippet($input: DeleteSlurmConfigSnippetInput!) {
    deleteSlurmConfigSnippet(input: $input) {
      __typename
      ... on DeleteSlurmConfigSnippetPayload { deletedId }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`)

export const ApplySnippets = graphql(`
  mutation ApplySlurmConfigSnippets($input: ApplySlurmConfigSnippetsInput!) {
    applySlurmConfigSnippets(input: $input) {
      __typename
      ... on ApplySlurmConfigSnippetsPayload { slurmConfigVersion { id number } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`)

export const RegionsQuery = graphql(`
  query SnippetRegions { slurmTotals { regions { region clusters } } }
`)
