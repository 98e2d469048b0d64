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
    state refreshedAt failureCount lastError version clusterName
    totals { nodes jobs nodesByState { state nodes } jobsByState { state jobs } }
  }
}`)
