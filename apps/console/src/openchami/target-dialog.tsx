'use client'
import { useState } from 'react'
import { issueFor, useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { Dialog } from '@/ui/dialog.tsx'
import { SelectField, TextAreaField, TextField } from '@/ui/field.tsx'
import { Notice } from '@/ui/notice.tsx'
import { toast } from '@/ui/toast.tsx'
import { SetTarget, type Target } from './documents.ts'

type Props = { target: Target | null; onClose: () => void; onDone: () => void }

/** Sets the SMD and BSS. An empty token field keeps the stored one. */
export function TargetDialog({ target, onClose, onDone }: Props) {
  const set = useMutation(SetTarget)
  const [form, setForm] = useState({
    smdUrl: target?.smdUrl ?? '',
    bssUrl: target?.bssUrl ?? '',
    token: '',
    caCertificate: target?.caCertificate ?? '',
    mode: target?.mode ?? ('REPORT' as const),
    interval: String(target?.intervalSeconds ?? 3600),
  })
  const field = (key: 'smdUrl' | 'bssUrl' | 'token' | 'caCertificate') => ({
    value: form[key],
    autoComplete: 'off',
    error: issueFor(set.problem, key),
    onChange: (event: { target: { value: string } }) => setForm((before) => ({ ...before, [key]: event.target.value })),
  })
  async function save() {
    const { token, interval, smdUrl, bssUrl, caCertificate, mode } = form
    const outcome = await set.run({
      input: {
        ...{ smdUrl: smdUrl.trim() || null, bssUrl: bssUrl.trim() || null, caCertificate: caCertificate.trim() || null },
        ...{ mode, intervalSeconds: Number(interval) },
        ...(token && { token }),
      },
    })
    if (!outcome.ok) return
    toast('ok', t('openchami.saved'))
    onDone()
    onClose()
  }
  return (
    <Dialog
      title={t('openchami.edit')}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{t('common.cancel')}</Button>
          <Button
            variant="primary"
            busy={set.busy}
            showReason
            blockedReason={/^\d{1,6}$/.test(form.interval) ? null : t('bootProfile.needNumber')}
            onClick={() => void save()}
          >
            {t('common.save')}
          </Button>
        </>
      }
    >
      <div className="flex flex-col gap-4">
        {set.problem?.issues.length === 0 && <Notice tone="bad">{set.problem.message}</Notice>}
        <TextField label={t('openchami.smd')} optional mono placeholder={t('openchami.smdExample')} {...field('smdUrl')} />
        <TextField label={t('openchami.bss')} optional mono placeholder={t('openchami.bssExample')} {...field('bssUrl')} />
        <TextField
          label={t('openchami.token')}
          type="password"
          optional
          hint={target?.hasToken ? t('credential.keepStored') : t('openchami.tokenHint')}
          {...field('token')}
        />
        <TextAreaField
          label={t('openchami.ca')}
          optional
          mono
          rows={3}
          hint={t('openchami.caHint')}
          {...field('caCertificate')}
        />
        <SelectField
          label={t('openchami.mode')}
          hint={t(`openchamiModeHint.${form.mode}`)}
          value={form.mode}
          onChange={(event) => setForm((before) => ({ ...before, mode: event.target.value as typeof form.mode }))}
        >
          {(['OFF', 'REPORT', 'PUSH'] as const).map((mode) => (
            <option key={mode} value={mode}>
              {t(`openchamiMode.${mode}`)}
            </option>
          ))}
        </SelectField>
        <TextField
          label={t('openchami.interval')}
          inputMode="numeric"
          className="max-w-48"
          value={form.interval}
          error={issueFor(set.problem, 'intervalSeconds')}
          onChange={(event) => setForm((before) => ({ ...before, interval: event.target.value }))}
        />
      </div>
    </Dialog>
  )
}
