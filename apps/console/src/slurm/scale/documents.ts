import { graphql, type ResultOf, type VariablesOf } from '@/graphql/graphql.ts'

const OperationFragment = graphql(`
  fragment SlurmOperationProgress on SlurmOperation {
    id kind status error reason nodeCount problemCount cancelRequestedAt finishedAt createdAt createdBy { name }
    steps { name state message jobRunId }
    nodes(first: 500) { edges { node { name phase isFailed message checks { name state message } } } }
  }
`)
export type Operation = ResultOf<typeof OperationFragment>

export const OperationUpdated = graphql(
  `
  subscription SlurmOperationUpdated($id: ID!) {
    slurmOperationUpdated(id: $id) { ...SlurmOperationProgress }
  }
`,
  [OperationFragment],
)

export const OperationsQuery = graphql(`
  query SlurmOperations($id: ID!, $first: Int, $after: String) {
    slurmCluster(id: $id) {
      id
      operations(first: $first, after: $after) {
        totalCount
        edges { node { id kind status reason nodeCount problemCount createdAt finishedAt createdBy { name } } }
        pageInfo { hasNextPage endCursor }
      }
    }
  }
`)

export const CancelOperation = graphql(`
  mutation CancelSlurmOperation($id: ID!) {
    cancelSlurmOperation(input: { id: $id }) {
      __typename
      ... on CancelSlurmOperationPayload { slurmOperation { id cancelRequestedAt } }
      ... on Error { message code }
    }
  }
`)

export const ScaleQuery = graphql(`
  query SlurmScale($id: ID!) {
    slurmCluster(id: $id) { id scaleBlockedReason setPowerSavingBlockedReason }
  }
`)

export const PreviewScaleOut = graphql(`
  query PreviewSlurmScaleOut($input: PreviewSlurmScaleOutInput!) {
    previewSlurmScaleOut(input: $input) {
      __typename
      ... on SlurmScaleOutPreview {
        fingerprint blockedReason
        candidates { node { id name } slurmName cpus gres blockedReason }
        diff { file lines { kind text } }
        plan { controllers lost }
      }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`)
export type ScaleOutInput = VariablesOf<typeof PreviewScaleOut>['input']
export type ScaleOutPreview = Extract<
  ResultOf<typeof PreviewScaleOut>['previewSlurmScaleOut'],
  { __typename: 'SlurmScaleOutPreview' }
>

export const ScaleOut = graphql(`
  mutation ScaleOutSlurmCluster($input: ScaleOutSlurmClusterInput!) {
    scaleOutSlurmCluster(input: $input) {
      __typename
      ... on ScaleOutSlurmClusterPayload { slurmOperation { id } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`)

export const PreviewScaleIn = graphql(`
  query PreviewSlurmScaleIn($input: PreviewSlurmScaleInInput!) {
    previewSlurmScaleIn(input: $input) {
      __typename
      ... on SlurmScaleInPreview {
        fingerprint targets { name state jobs blockedReason }
        diff { file lines { kind text } }
        plan { controllers lost }
      }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`)
export type ScaleInInput = VariablesOf<typeof PreviewScaleIn>['input']

export const ScaleIn = graphql(`
  mutation ScaleInSlurmCluster($input: ScaleInSlurmClusterInput!) {
    scaleInSlurmCluster(input: $input) {
      __typename
      ... on ScaleInSlurmClusterPayload { slurmOperation { id } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`)

export const CreateCluster = graphql(`
  mutation CreateSlurmCluster($input: CreateSlurmClusterInput!) {
    createSlurmCluster(input: $input) {
      __typename
      ... on CreateSlurmClusterPayload { slurmOperation { id cluster { id } } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`)

/** Nodes of an expression, as runs use it. */
export const NodesByLimit = graphql(`
  query SlurmNodesByLimit($limit: String!) {
    nodes(filter: { limit: $limit }, first: 500) { edges { node { id name } } pageInfo { hasNextPage } }
  }
`)

const ReadinessFragment = graphql(`
  fragment SlurmReadiness on SlurmReadinessCheck {
    id error finishedAt nodes { nodeId name isReady checks { name state message } }
  }
`)
export type Readiness = ResultOf<typeof ReadinessFragment>

export const CheckReadiness = graphql(
  `
  mutation CheckSlurmReadiness($input: CheckSlurmReadinessInput!) {
    checkSlurmReadiness(input: $input) {
      __typename
      ... on CheckSlurmReadinessPayload { slurmReadinessCheck { ...SlurmReadiness } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`,
  [ReadinessFragment],
)
export type ReadinessInput = VariablesOf<typeof CheckReadiness>['input']

export const ReadinessUpdated = graphql(
  `
  subscription SlurmReadinessUpdated($id: ID!) {
    slurmReadinessCheckUpdated(id: $id) { ...SlurmReadiness }
  }
`,
  [ReadinessFragment],
)
