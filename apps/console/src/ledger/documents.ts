import { graphql, type ResultOf } from '@/graphql/graphql.ts'

export const LedgerFragment = graphql(`
  fragment LedgerSettings on Ledger {
    isEnabled intervalSeconds maxAgeSeconds recordedAt verifierKeys checkpoint { size note createdAt } updateBlockedReason
  }
`)
export type Ledger = ResultOf<typeof LedgerFragment>

export const UpdateLedgerSettings = graphql(
  `
  mutation UpdateLedgerSettings($input: UpdateLedgerSettingsInput!) {
    updateLedgerSettings(input: $input) {
      __typename
      ... on UpdateLedgerSettingsPayload { ledger { ...LedgerSettings } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`,
  [LedgerFragment],
)
