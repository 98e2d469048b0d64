import { graphql } from '../graphql.ts'

export const ADD_CLUSTER = graphql(`mutation AddCluster($input: AddSlurmClusterInput!) {
  addSlurmCluster(input: $input) {
    __typename ... on AddSlurmClusterPayload { slurmCluster { id } }
    ... on Error { code message } ... on InvalidInputError { issues { path message } }
  }
}`)

export const REFRESH_CLUSTER = graphql(`mutation RefreshCluster($id: ID!) {
  refreshSlurmCluster(input: { id: $id }) {
    __typename ... on RefreshSlurmClusterPayload { slurmCluster { refreshedAt failureCount } } ... on Error { code message }
  }
}`)

export const CLUSTER_UPDATED = graphql(`subscription ClusterUpdated($id: ID) {
  slurmClusterUpdated(id: $id) { id refreshedAt failureCount lastError }
}`)

export const CLUSTER = graphql(`query Cluster($id: ID!) {
  slurmCluster(id: $id) {
    state refreshedAt refreshDurationMs queries { query durationMs } failureCount lastError version clusterName
    totals { nodes jobs nodesByState { state nodes } jobsByState { state jobs } }
  }
}`)

export const START_ACTION = graphql(`mutation StartAction($input: StartSlurmActionInput!) {
  startSlurmAction(input: $input) {
    __typename ... on StartSlurmActionPayload { slurmAction { id } }
    ... on Error { code message } ... on InvalidInputError { issues { path message } }
  }
}`)

export const ACTION_UPDATED = graphql(`subscription ActionUpdated($id: ID!) {
  slurmActionUpdated(id: $id) {
    status error finishedAt items(first: 10) { edges { node { target result before after message } } }
  }
}`)

export const UPDATE_NODE = graphql(`mutation UpdateNode($input: UpdateNodeInput!) {
  updateNode(input: $input) {
    __typename ... on UpdateNodePayload { node { id } } ... on Error { code message } ... on InvalidInputError { issues { path message } }
  }
}`)

export const CREATE_CLUSTER = graphql(`mutation CreateCluster($input: CreateSlurmClusterInput!) {
  createSlurmCluster(input: $input) {
    __typename ... on CreateSlurmClusterPayload { slurmOperation { id cluster { id } } }
    ... on Error { code message } ... on InvalidInputError { issues { path message } }
  }
}`)

export const PREVIEW_SCALE_OUT = graphql(`query PreviewScaleOut($input: PreviewSlurmScaleOutInput!) {
  previewSlurmScaleOut(input: $input) { __typename ... on SlurmScaleOutPreview { fingerprint blockedReason } ... on Error { message } }
}`)

export const SCALE_OUT = graphql(`mutation ScaleOut($input: ScaleOutSlurmClusterInput!) {
  scaleOutSlurmCluster(input: $input) {
    __typename ... on ScaleOutSlurmClusterPayload { slurmOperation { id } }
    ... on Error { code message } ... on InvalidInputError { issues { path message } }
  }
}`)

export const PREVIEW_SCALE_IN = graphql(`query PreviewScaleIn($input: PreviewSlurmScaleInInput!) {
  previewSlurmScaleIn(input: $input) { __typename ... on SlurmScaleInPreview { fingerprint } ... on Error { message } }
}`)

export const SCALE_IN = graphql(`mutation ScaleIn($input: ScaleInSlurmClusterInput!) {
  scaleInSlurmCluster(input: $input) {
    __typename ... on ScaleInSlurmClusterPayload { slurmOperation { id } }
    ... on Error { code message } ... on InvalidInputError { issues { path message } }
  }
}`)

export const OPERATION_UPDATED = graphql(`subscription OperationUpdated($id: ID!) {
  slurmOperationUpdated(id: $id) {
    kind status error finishedAt nodes(first: 10) { edges { node { name phase isFailed message } } }
  }
}`)
