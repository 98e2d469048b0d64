import { graphql, type ResultOf } from '@/graphql/graphql.ts'
import { issueFor, useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { NumberForm } from '@/ui/number-form.tsx'

export const RetentionFragment = graphql(`
  fragment RetentionForm on Retention {
    logDays artifactDays runDays auditDays updateBlockedReason updateAuditBlockedReason
  }
`)
type Retention = ResultOf<typeof RetentionFragment>

const SetRetention = graphql(
  `
  mutation SetRetention($input: SetRetentionInput!) {
    setRetention(input: $input) {
      __typename
      ... on SetRetentionPayload { retention { ...RetentionForm } }
      ... on InvalidInputError { issues { path message } }
      ... on Error { message code }
    }
  }
`,
  [RetentionFragment],
)

const fields = ['logDays', 'artifactDays', 'runDays', 'auditDays'] as const

/** Days after which data is deleted. */
export function RetentionForm({ retention }: { retention: Retention }) {
  const mutation = useMutation(SetRetention)
  return (
    <NumberForm
      parts={[
        {
          title: t('retention.days'),
          fields: fields.map((name) => ({
            name,
            label: t(`retention.${name}`),
            hint: t(`retention.${name}Hint`),
            min: name === 'auditDays' ? 30 : 1,
            isOptional: true,
            blockedReason: name === 'auditDays' ? retention.updateAuditBlockedReason : retention.updateBlockedReason,
          })),
        },
      ]}
      values={retention}
      savedText={t('retention.saved')}
      save={async (input) => {
        const outcome = await mutation.run({ input })
        return outcome.ok ? outcome.value.retention : null
      }}
      busy={mutation.busy}
      problem={mutation.problem}
      issueFor={(name) => issueFor(mutation.problem, name)}
    />
  )
}
