import { useState } from 'react'
import { graphql, type ResultOf } from '@/graphql/graphql.ts'
import { issueFor, useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { TextField } from '@/ui/field.tsx'
import { Notice } from '@/ui/notice.tsx'
import { Panel } from '@/ui/page.tsx'
import { toast } from '@/ui/toast.tsx'

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
type Form = Record<(typeof fields)[number], string>

const toForm = (retention: Retention): Form =>
  Object.fromEntries(fields.map((field) => [field, String(retention[field] ?? '')])) as Form

/** Days after which data is deleted. Sends only changed fields. */
export function RetentionForm({ retention }: { retention: Retention }) {
  const mutation = useMutation(SetRetention)
  const [saved, setSaved] = useState(() => toForm(retention))
  const [form, setForm] = useState(saved)
  const changed = fields.filter((field) => form[field] !== saved[field])
  const blockedReason = (field: (typeof fields)[number]) =>
    field === 'auditDays' ? retention.updateAuditBlockedReason : retention.updateBlockedReason
  async function save() {
    const input = Object.fromEntries(changed.map((field) => [field, form[field] === '' ? null : Number(form[field])]))
    const outcome = await mutation.run({ input })
    if (!outcome.ok) return
    setSaved(toForm(outcome.value.retention))
    setForm(toForm(outcome.value.retention))
    toast('ok', t('retention.saved'))
  }
  return (
    <form
      className="flex max-w-3xl flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault()
        if (!mutation.busy && !retention.updateBlockedReason && changed.length > 0) void save()
      }}
    >
      {mutation.problem && mutation.problem.issues.length === 0 && <Notice tone="bad">{mutation.problem.message}</Notice>}
      <Panel title={t('retention.days')}>
        <div className="grid gap-4 sm:grid-cols-2">
          {fields.map((field) => (
            <TextField
              key={field}
              type="number"
              min={field === 'auditDays' ? 30 : 1}
              step={1}
              optional
              label={t(`retention.${field}`)}
              hint={blockedReason(field) ?? t(`retention.${field}Hint`)}
              disabled={blockedReason(field) !== null}
              value={form[field]}
              onChange={(event) => setForm((before) => ({ ...before, [field]: event.target.value }))}
              error={issueFor(mutation.problem, field)}
            />
          ))}
        </div>
      </Panel>
      <div className="flex justify-end gap-2">
        {changed.length > 0 && <Button onClick={() => setForm(saved)}>{t('agentSettings.undo')}</Button>}
        <Button
          variant="primary"
          type="submit"
          showReason
          busy={mutation.busy}
          blockedReason={retention.updateBlockedReason ?? (changed.length === 0 ? t('bulk.nothing') : null)}
        >
          {t('common.save')}
        </Button>
      </div>
    </form>
  )
}
