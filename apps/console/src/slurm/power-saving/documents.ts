import { graphql } from '@/graphql/graphql.ts'

export const PowerSavingQuery = graphql(`
  query SlurmPowerSaving($id: ID!) {
    slurmCluster(id: $id) {
      id
      powerSaving {
        enabledAt
        settings {
          suspendTimeSeconds suspendTimeoutSeconds resumeTimeoutSeconds suspendRate resumeRate excludedNodes excludedPartitions apiUrl
          caCertificate
        }
      }
    }
  }
`)

export const PreviewPowerSaving = graphql(`
  query PreviewSlurmPowerSaving($input: PreviewSlurmPowerSavingInput!) {
    previewSlurmPowerSaving(input: $input) {
      __typename
      ... on SlurmPowerSavingPreview {
        fingerprint blockedReason nodeNames excluded { nodeName reason }
        diff { file lines { kind text } }
        plan { controllers lost }
      }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`)

export const SetPowerSaving = graphql(`
  mutation SetSlurmPowerSaving($input: SetSlurmPowerSavingInput!) {
    setSlurmPowerSaving(input: $input) {
      __typename
      ... on SetSlurmPowerSavingPayload { slurmOperation { id } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`)
