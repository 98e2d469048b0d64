import { graphql, type ResultOf } from '@/graphql/graphql.ts'

const TargetFragment = graphql(`
  fragment OpenchamiTargetPage on OpenchamiTarget {
    id smdUrl bssUrl hasToken caCertificate mode intervalSeconds state isCheckPending checkedAt error failingSince driftSince
    differenceCount pushedAt pushedCount updateBlockedReason
    differences { object state fields { field theirs ours } }
  }
`)
export type Target = ResultOf<typeof TargetFragment>

export const TargetQuery = graphql(`query OpenchamiTarget { openchamiTarget { ...OpenchamiTargetPage } }`, [TargetFragment])

export const SetTarget = graphql(
  `
  mutation SetOpenchamiTarget($input: SetOpenchamiTargetInput!) {
    setOpenchamiTarget(input: $input) {
      __typename
      ... on SetOpenchamiTargetPayload { openchamiTarget { ...OpenchamiTargetPage } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`,
  [TargetFragment],
)

export const CheckTarget = graphql(
  `
  mutation CheckOpenchamiTarget($mode: OpenchamiCheckMode!) {
    checkOpenchamiTarget(input: { mode: $mode }) {
      __typename
      ... on CheckOpenchamiTargetPayload { openchamiTarget { ...OpenchamiTargetPage } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`,
  [TargetFragment],
)

export const RemoveTarget = graphql(`
  mutation RemoveOpenchamiTarget {
    removeOpenchamiTarget {
      __typename
      ... on RemoveOpenchamiTargetPayload { deletedId }
      ... on Error { message code }
    }
  }
`)
