'use client'
import { useState } from 'react'
import { issueFor, useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { Dialog } from '@/ui/dialog.tsx'
import { SelectField, TextField } from '@/ui/field.tsx'
import { Notice } from '@/ui/notice.tsx'
import { toast } from '@/ui/toast.tsx'
import { type AlertRow, CreateAlertSilence, type Matcher } from './documents.ts'
import { anyAlert, MatcherFields } from './matcher.tsx'

const lengths = ['1', '4', '24', '168'] as const

/** Preselects the alert's kind, on its node or in its cluster. */
const matcherOf = (alert: AlertRow | null): Matcher =>
  alert
    ? {
        ...anyAlert,
        kinds: [alert.kind],
        query: alert.node && `name = ${alert.node.name}`,
        clusters: alert.cluster ? [alert.cluster] : [],
      }
    : anyAlert

/** Creates a silence. */
export function SilenceDialog({
  alert = null,
  onClose,
  onDone,
}: {
  alert?: AlertRow | null
  onClose: () => void
  onDone: () => void
}) {
  const mutation = useMutation(CreateAlertSilence)
  const [matcher, setMatcher] = useState(() => matcherOf(alert))
  const [reason, setReason] = useState('')
  const [hours, setHours] = useState<string>('4')
  async function send() {
    const endsAt = new Date(Date.now() + Number(hours) * 3_600_000).toISOString()
    const outcome = await mutation.run({ input: { matcher, reason, endsAt } })
    if (!outcome.ok) return
    toast('ok', t('silences.created'))
    onDone()
    onClose()
  }
  const error = (path: string) => issueFor(mutation.problem, path)
  return (
    <Dialog
      title={t('silences.title')}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{t('common.cancel')}</Button>
          <Button
            variant="primary"
            showReason
            busy={mutation.busy}
            blockedReason={reason.trim() ? null : t('silences.needReason')}
            onClick={() => void send()}
          >
            {t('silences.make')}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        {mutation.problem && mutation.problem.issues.length === 0 && <Notice tone="bad">{mutation.problem.message}</Notice>}
        <p className="text-sm text-muted">{t('silences.text')}</p>
        <TextField
          label={t('silences.reason')}
          value={reason}
          onChange={(event) => setReason(event.target.value)}
          error={error('reason')}
        />
        <SelectField
          label={t('silences.length')}
          value={hours}
          onChange={(event) => setHours(event.target.value)}
          error={error('endsAt')}
        >
          {lengths.map((each) => (
            <option key={each} value={each}>
              {t(`silences.hours.${each}`)}
            </option>
          ))}
        </SelectField>
        <MatcherFields value={matcher} onChange={setMatcher} error={error} />
      </div>
    </Dialog>
  )
}
