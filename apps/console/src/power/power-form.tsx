'use client'
import { useState } from 'react'
import { useQuery } from 'urql'
import { useBlockedReason } from '@/access/viewer.tsx'
import { issueFor, toProblem, unwrap, useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { DialogActions } from '@/ui/dialog.tsx'
import { SelectField, TextField } from '@/ui/field.tsx'
import { useSettled } from '@/ui/hooks/use-settled.ts'
import { Notice } from '@/ui/notice.tsx'
import { RelativeTime } from '@/ui/relative-time.tsx'
import { Skeleton } from '@/ui/skeleton.tsx'
import { type BootDevice, isDangerous, type PowerAction, type PowerInput, PreviewPowerRun, StartPowerRun } from './documents.ts'
import { PowerStateBadge } from './power-badges.tsx'

const bootDevices = ['PXE', 'HTTP', 'DISK', 'BIOS_SETUP', 'NONE'] as const
type Props = {
  action: PowerAction
  nodeIds: string[]
  initialDevice: BootDevice
  note: string | null
  onStarted: (id: string) => void
  onCancel: () => void
}

/** Nodes, pace and reason of a power action. A node that blocks it shows why. */
export function PowerForm({ action, nodeIds, initialDevice, note, onStarted, onCancel }: Props) {
  const start = useMutation(StartPowerRun)
  const [reason, setReason] = useState('')
  const [bootDevice, setBootDevice] = useState<BootDevice>(initialDevice)
  const [force, setForce] = useState(false)
  const [pace, setPace] = useState({ parallelism: '10', delaySeconds: action === 'ON' || action === 'CYCLE' ? '1' : '0' })
  const overrideBlocked = useBlockedReason('power:override')
  const number = (text: string) => (/^\d+$/.test(text) ? Number(text) : null)
  const input: PowerInput = {
    action,
    nodeIds,
    force,
    parallelism: number(pace.parallelism),
    delaySeconds: number(pace.delaySeconds),
    ...(action === 'BOOT_ONCE' ? { bootDevice } : {}),
  }
  const key = JSON.stringify(input)
  const settled = useSettled(key)
  const [{ data, error, fetching }] = useQuery({
    query: PreviewPowerRun,
    variables: { input: JSON.parse(settled) as PowerInput },
    requestPolicy: 'network-only',
  })
  const outcome = data && unwrap(data)
  const preview = outcome?.ok ? outcome.value : null
  const isCurrent = settled === key && !fetching
  const problem = start.problem ?? (error ? toProblem(error) : outcome && !outcome.ok ? outcome.problem : null)
  const blockedReason = !reason.trim()
    ? t('power.needReason')
    : !preview || !isCurrent
      ? t('power.needPreview')
      : preview.blockedCount > 0
        ? t('power.blocked', { count: preview.blockedCount })
        : null
  async function run() {
    if (blockedReason) return
    const started = await start.run({ input: { ...input, reason: reason.trim() } })
    if (started.ok) onStarted(started.value.powerRun.id)
  }
  const paceField = (field: keyof typeof pace) => ({
    mono: true,
    inputMode: 'numeric' as const,
    value: pace[field],
    onChange: (event: { target: { value: string } }) => setPace((before) => ({ ...before, [field]: event.target.value })),
    error: issueFor(problem, field),
  })
  return (
    <form
      className="flex flex-col gap-4 text-sm"
      onSubmit={(event) => {
        event.preventDefault()
        void run()
      }}
    >
      <p>{t(`powerActionText.${action}`)}</p>
      {note && <Notice tone="warn">{note}</Notice>}
      {action === 'BOOT_ONCE' && (
        <SelectField
          label={t('power.bootDevice')}
          value={bootDevice}
          onChange={(event) => setBootDevice(event.target.value as typeof bootDevice)}
        >
          {bootDevices.map((each) => (
            <option key={each} value={each}>
              {t(`bootDevice.${each}`)}
            </option>
          ))}
        </SelectField>
      )}
      <TextField
        label={t('power.reason')}
        hint={t('power.reasonHint')}
        maxLength={200}
        value={reason}
        onChange={(event) => setReason(event.target.value)}
        error={issueFor(problem, 'reason')}
        autoFocus
      />
      {nodeIds.length > 1 && (
        <div className="grid gap-4 sm:grid-cols-2">
          <TextField label={t('power.parallelism')} {...paceField('parallelism')} />
          <TextField label={t('power.delaySeconds')} {...paceField('delaySeconds')} />
        </div>
      )}
      {isDangerous(action) && (
        <label className="flex items-start gap-2" title={overrideBlocked ?? undefined}>
          <input
            type="checkbox"
            className="mt-0.5 accent-(--accent)"
            checked={force}
            disabled={overrideBlocked !== null}
            onChange={(event) => setForce(event.target.checked)}
          />
          <span>
            {t('power.force')}
            {overrideBlocked && <span className="block text-xs text-muted">{overrideBlocked}</span>}
          </span>
        </label>
      )}
      {problem && problem.issues.length === 0 && <Notice tone="bad">{problem.message}</Notice>}
      {!preview && !problem && <Skeleton className="h-24 w-full" />}
      {preview && (
        <section
          className={`flex flex-col gap-2 rounded-md bg-sunken p-3 ${isCurrent ? '' : 'opacity-55'}`}
          aria-busy={!isCurrent}
        >
          <h3 className="text-xs font-medium text-muted">{t('power.nodes', { count: preview.targetCount })}</h3>
          <ul className="flex max-h-64 flex-col gap-1 overflow-y-auto">
            {preview.targets.edges.map(({ node: { name, powerState, readAt, blockedReason: why } }) => (
              <li key={name} className="flex flex-wrap items-baseline gap-x-3">
                <span className="font-mono text-xs font-medium">{name}</span>
                <PowerStateBadge state={powerState} />
                {readAt && (
                  <span className="text-xs text-muted">
                    <RelativeTime at={readAt} />
                  </span>
                )}
                {why && <p className="w-full text-xs text-bad">{why}</p>}
              </li>
            ))}
          </ul>
          {preview.targetCount > preview.targets.edges.length && (
            <p className="text-xs text-muted">{t('power.more', { count: preview.targetCount - preview.targets.edges.length })}</p>
          )}
        </section>
      )}
      <DialogActions>
        <Button onClick={onCancel}>{t('common.cancel')}</Button>
        <Button
          type="submit"
          variant={isDangerous(action) ? 'danger' : 'primary'}
          busy={start.busy}
          showReason
          blockedReason={blockedReason}
        >
          {t('power.start', { action: t(`powerAction.${action}`), count: nodeIds.length })}
        </Button>
      </DialogActions>
    </form>
  )
}
