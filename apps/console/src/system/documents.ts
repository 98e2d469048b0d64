import { graphql, type ResultOf } from '@/graphql/graphql.ts'

export const SystemChecksQuery = graphql(`
  query SystemChecks {
    systemChecks { check source severity message nextStep }
  }
`)
export type SystemCheck = ResultOf<typeof SystemChecksQuery>['systemChecks'][number]

const WorkerItem = graphql(`
  fragment WorkerItem on Worker @_unmask {
    id name version isolation isolationWeakness concurrency runningCount startedAt lastSeenAt isGone
    drainedAt drainedBy { name } drainBlockedReason undrainBlockedReason
  }
`)

export const WorkersQuery = graphql(
  `
  query Workers($first: Int, $after: String) {
    workers(first: $first, after: $after) {
      edges { node { ...WorkerItem } }
      pageInfo { hasNextPage endCursor }
    }
  }
`,
  [WorkerItem],
)
export type Worker = ResultOf<typeof WorkersQuery>['workers']['edges'][number]['node']

export const DrainWorker = graphql(
  `
  mutation DrainWorker($id: ID!) {
    drainWorker(input: { id: $id }) {
      __typename
      ... on DrainWorkerPayload { worker { ...WorkerItem } }
      ... on Error { message code }
    }
  }
`,
  [WorkerItem],
)

export const UndrainWorker = graphql(
  `
  mutation UndrainWorker($id: ID!) {
    undrainWorker(input: { id: $id }) {
      __typename
      ... on UndrainWorkerPayload { worker { ...WorkerItem } }
      ... on Error { message code }
    }
  }
`,
  [WorkerItem],
)

export const CredentialKeyQuery = graphql(`
  query CredentialKey {
    credentialKey {
      version createdAt totalCount pendingCount failedCount failures { objectType name reason } olderVersionsInUse rotateBlockedReason
    }
  }
`)

export const RotateCredentialKey = graphql(`
  mutation RotateCredentialKey {
    rotateCredentialKey {
      __typename
      ... on RotateCredentialKeyPayload { credentialKey { version } }
      ... on Error { message code }
    }
  }
`)
