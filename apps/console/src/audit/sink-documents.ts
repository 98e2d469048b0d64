import { graphql, type ResultOf } from '@/graphql/graphql.ts'

export const SinkFragment = graphql(`
  fragment AuditSinkRow on AuditSink {
    id name kind origin hasAuthorization host port caCertificate isEnabled deliveredAt behindSince failingSince lastError
    isTestPending testError updateBlockedReason
  }
`)
export type Sink = ResultOf<typeof SinkFragment>

export const SinksQuery = graphql(
  `
  query AuditSinks($first: Int, $after: String) {
    auditSinks(first: $first, after: $after) {
      edges { node { ...AuditSinkRow } }
      pageInfo { hasNextPage endCursor }
    }
  }
`,
  [SinkFragment],
)

export const CreateAuditSink = graphql(`
  mutation CreateAuditSink($input: CreateAuditSinkInput!) {
    createAuditSink(input: $input) {
      __typename
      ... on CreateAuditSinkPayload { auditSink { id name } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`)

export const UpdateAuditSink = graphql(
  `
  mutation UpdateAuditSink($input: UpdateAuditSinkInput!) {
    updateAuditSink(input: $input) {
      __typename
      ... on UpdateAuditSinkPayload { auditSink { ...AuditSinkRow } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`,
  [SinkFragment],
)

export const DeleteAuditSink = graphql(`
  mutation DeleteAuditSink($id: ID!) {
    deleteAuditSink(input: { id: $id }) { __typename ... on DeleteAuditSinkPayload { deletedId } ... on Error { message code } }
  }
`)

export const TestAuditSink = graphql(`
  mutation TestAuditSink($id: ID!) {
    testAuditSink(input: { id: $id }) { __typename ... on TestAuditSinkPayload { auditSink { id isTestPending testError } } ... on Error { message code } }
  }
`)

export const SinkTestQuery = graphql(`
  query AuditSinkTest($id: ID!) { node(id: $id) { __typename ... on AuditSink { id isTestPending testError } } }
`)
