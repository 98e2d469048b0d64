import { graphql, type ResultOf } from '@/graphql/graphql.ts'

export const RotationFragment = graphql(`
  fragment RotationProgress on CredentialRotation {
    id status nodeCount installedCount failedCount createdAt finishedAt
    createdBy { name }
    leftCredential { name }
    resumeBlockedReason completeBlockedReason cancelBlockedReason
    hosts(first: 100, status: [FAILED]) { edges { node { error node { id name } } } }
  }
`)
export type RotationProgress = ResultOf<typeof RotationFragment>

export const RotatedNodesQuery = graphql(`
  query RotatedNodes($id: ID!) {
    node(id: $id) { __typename id ... on Credential { usedBy { role count hostlist } } }
  }
`)

export const CredentialRotationUpdated = graphql(
  `
  subscription CredentialRotationUpdated($id: ID!) {
    credentialRotationUpdated(id: $id) { ...RotationProgress }
  }
`,
  [RotationFragment],
)

export const RotateCredential = graphql(
  `
  mutation RotateCredential($input: RotateCredentialInput!) {
    rotateCredential(input: $input) {
      __typename
      ... on RotateCredentialPayload { credentialRotation { ...RotationProgress } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`,
  [RotationFragment],
)

export const ResumeCredentialRotation = graphql(
  `
  mutation ResumeCredentialRotation($id: ID!) {
    resumeCredentialRotation(input: { id: $id }) {
      __typename
      ... on ResumeCredentialRotationPayload { credentialRotation { ...RotationProgress } }
      ... on Error { message code }
    }
  }
`,
  [RotationFragment],
)

export const CompleteCredentialRotation = graphql(
  `
  mutation CompleteCredentialRotation($id: ID!) {
    completeCredentialRotation(input: { id: $id }) {
      __typename
      ... on CompleteCredentialRotationPayload { credentialRotation { ...RotationProgress } }
      ... on Error { message code }
    }
  }
`,
  [RotationFragment],
)

export const CancelCredentialRotation = graphql(
  `
  mutation CancelCredentialRotation($id: ID!) {
    cancelCredentialRotation(input: { id: $id }) {
      __typename
      ... on CancelCredentialRotationPayload { credentialRotation { ...RotationProgress } }
      ... on Error { message code }
    }
  }
`,
  [RotationFragment],
)
