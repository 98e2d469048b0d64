'use client'
import { useState } from 'react'
import { useQuery } from 'urql'
import type { ResultOf } from '@/graphql/graphql.ts'
import { issuesWithin, noticeOf, toProblem, unwrap, useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { DialogActions } from '@/ui/dialog.tsx'
import { CheckField, TextAreaField, TextField } from '@/ui/field.tsx'
import { Notice } from '@/ui/notice.tsx'
import { Skeleton } from '@/ui/skeleton.tsx'
import { ConfigDiff } from '../scale/config-diff.tsx'
import { OperationDialog } from '../scale/operation-dialog.tsx'
import { usePreview } from '../scale/use-preview.ts'
import { PowerSavingQuery, PreviewPowerSaving, SetPowerSaving } from './documents.ts'

type Props = { cluster: { id: string; name: string }; onClose: () => void; onDone: () => void }
type Current = NonNullable<ResultOf<typeof PowerSavingQuery>['slurmCluster']>['powerSaving']

/** Turns power saving of a managed cluster on or off, or changes its settings. */
export function PowerSavingDialog({ cluster, onClose, onDone }: Props) {
  const [{ data, error }] = useQuery({
    query: PowerSavingQuery,
    variables: { id: cluster.id },
    requestPolicy: 'network-only',
  })
  return (
    <OperationDialog title={t('slurmPower.title', { name: cluster.name })} onClose={onClose} onDone={onDone}>
      {(onStarted) =>
        error ? (
          <Notice tone="bad">{toProblem(error).message}</Notice>
        ) : data?.slurmCluster ? (
          <Form clusterId={cluster.id} current={data.slurmCluster.powerSaving} onStarted={onStarted} onCancel={onClose} />
        ) : (
          <Skeleton className="h-96 w-full" />
        )
      }
    </OperationDialog>
  )
}

const NUMBERS = ['suspendTimeSeconds', 'suspendTimeoutSeconds', 'resumeTimeoutSeconds', 'suspendRate', 'resumeRate'] as const
const DEFAULTS = {
  suspendTimeSeconds: 600,
  suspendTimeoutSeconds: 300,
  resumeTimeoutSeconds: 600,
  suspendRate: 60,
  resumeRate: 60,
}
const SHOWN = 50

type FormProps = { clusterId: string; current: Current; onStarted: (id: string) => void; onCancel: () => void }

function Form({ clusterId, current, onStarted, onCancel }: FormProps) {
  const start = useMutation(SetPowerSaving)
  const known = current?.settings
  const [isOn, setIsOn] = useState(true)
  const [form, setForm] = useState({
    ...(Object.fromEntries(NUMBERS.map((key) => [key, String(known?.[key] ?? DEFAULTS[key])])) as Record<
      (typeof NUMBERS)[number],
      string
    >),
    apiUrl: known?.apiUrl ?? (window.location.protocol === 'https:' ? window.location.origin : ''),
    caCertificate: known?.caCertificate ?? '',
    excludedNodes: known?.excludedNodes ?? '',
    excludedPartitions: known?.excludedPartitions.join(', ') ?? '',
    reason: '',
  })
  const settings = {
    ...(Object.fromEntries(NUMBERS.map((key) => [key, Number(form[key])])) as typeof DEFAULTS),
    apiUrl: form.apiUrl.trim(),
    caCertificate: form.caCertificate.trim() || null,
    excludedNodes: form.excludedNodes.trim() || null,
    excludedPartitions: form.excludedPartitions
      .split(',')
      .map((name) => name.trim())
      .filter(Boolean),
  }
  const areNumbers = NUMBERS.every((key) => /^\d+$/.test(form[key]))
  const input = { clusterId, settings: isOn ? settings : null }
  const { data, error, isLoading } = usePreview(PreviewPowerSaving, input, !isOn || (settings.apiUrl !== '' && areNumbers))
  const outcome = data && unwrap(data)
  const preview = outcome?.ok ? outcome.value : null
  const problem = error ? toProblem(error) : outcome && !outcome.ok ? outcome.problem : null
  const shown = start.problem ?? problem
  const field = (key: keyof typeof form, path: string = `settings.${key}`) => ({
    value: form[key],
    onChange: (event: { target: { value: string } }) => setForm((before) => ({ ...before, [key]: event.target.value })),
    error: issuesWithin(shown, path),
  })
  const notice = noticeOf(shown, ['reason', ...Object.keys(settings).map((key) => `settings.${key}`)])
  const blockedReason =
    preview?.blockedReason ??
    (preview ? (form.reason.trim() ? null : t('slurmAction.needReason')) : (shown?.message ?? t('slurmPower.needFields')))
  async function run() {
    if (!preview || blockedReason) return
    const started = await start.run({ input: { ...input, fingerprint: preview.fingerprint, reason: form.reason.trim() } })
    if (started.ok) onStarted(started.value.slurmOperation.id)
  }
  return (
    <form
      className="flex flex-col gap-4 text-sm"
      onSubmit={(event) => {
        event.preventDefault()
        void run()
      }}
    >
      <p>{t('slurmPower.text')}</p>
      {current && (
        <CheckField
          label={t('slurmPower.on')}
          hint={t('slurmPower.offHint')}
          checked={isOn}
          onChange={(event) => setIsOn(event.target.checked)}
        />
      )}
      {isOn && (
        <>
          <TextField label={t('slurmPower.apiUrl')} hint={t('slurmPower.apiUrlHint')} mono {...field('apiUrl')} />
          <div className="grid gap-4 sm:grid-cols-2">
            {NUMBERS.map((key) => (
              <TextField
                key={key}
                label={t(`slurmPower.${key}`)}
                hint={t(`slurmPower.${key}Hint`)}
                type="number"
                min={1}
                {...field(key)}
              />
            ))}
          </div>
          <TextField
            label={t('slurmPower.excludedNodes')}
            hint={t('slurmPower.excludedNodesHint')}
            mono
            optional
            {...field('excludedNodes')}
          />
          <TextField label={t('slurmPower.excludedPartitions')} mono optional {...field('excludedPartitions')} />
          <TextAreaField
            label={t('slurmPower.ca')}
            hint={t('slurmPower.caHint')}
            rows={3}
            mono
            optional
            {...field('caCertificate')}
          />
        </>
      )}
      <TextField label={t('slurmAction.reason')} maxLength={200} {...field('reason', 'reason')} />
      {notice && <Notice tone="bad">{notice}</Notice>}
      {isLoading ? (
        <Skeleton className="h-24 w-full" />
      ) : (
        preview && (
          <div className="flex flex-col gap-3">
            {isOn && (
              <p>
                {t('slurmPower.powered', { count: preview.nodeNames.length })}{' '}
                <span className="font-mono text-xs break-words">
                  {preview.nodeNames.slice(0, SHOWN).join(', ')}
                  {preview.nodeNames.length > SHOWN && ' …'}
                </span>
              </p>
            )}
            {preview.excluded.length > 0 && (
              <ul
                className="flex max-h-60 flex-col overflow-auto rounded-lg border border-line"
                aria-label={t('slurmPower.excluded')}
              >
                {preview.excluded.slice(0, SHOWN).map(({ nodeName, reason }) => (
                  <li key={nodeName} className="border-b border-line px-3 py-1.5 last:border-0">
                    <span className="font-mono text-xs font-medium">{nodeName}</span>
                    <p className="text-xs break-words text-muted">{reason}</p>
                  </li>
                ))}
              </ul>
            )}
            <ConfigDiff diff={preview.diff} plan={preview.plan} />
          </div>
        )
      )}
      <DialogActions>
        <Button onClick={onCancel}>{t('common.cancel')}</Button>
        <Button type="submit" variant={isOn ? 'primary' : 'danger'} busy={start.busy} showReason blockedReason={blockedReason}>
          {t(isOn ? (current ? 'slurmPower.apply' : 'slurmPower.turnOn') : 'slurmPower.turnOff')}
        </Button>
      </DialogActions>
    </form>
  )
}
