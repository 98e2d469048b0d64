'use client'
import { useEffect, useState } from 'react'
import { useQuery } from 'urql'
import { issueFor, toProblem, unwrap, useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { DialogActions } from '@/ui/dialog.tsx'
import { SelectField, TextField } from '@/ui/field.tsx'
import { Notice } from '@/ui/notice.tsx'
import { Skeleton } from '@/ui/skeleton.tsx'
import { type ActionInput, type Preview, PreviewAction, StartAction } from './documents.ts'
import { isDangerous, selectorOf, type Targets, type Verb } from './verbs.ts'

const partitionStates = ['UP', 'DRAIN', 'DOWN', 'INACTIVE'] as const
const nextStates = ['RESUME', 'DOWN'] as const
const TYPING_PAUSE_MS = 300

/** The reason and settings of an action, with a preview of its targets and commands. */
export function ActionForm({
  clusterId,
  verb,
  targets,
  onStarted,
  onCancel,
}: {
  clusterId: string
  verb: Verb
  targets: Targets
  onStarted: (id: string) => void
  onCancel: () => void
}) {
  const start = useMutation(StartAction)
  const [reason, setReason] = useState('')
  const [settings, setSettings] = useState<Partial<ActionInput>>(
    verb === 'SET_PARTITION_STATE' ? { partitionState: 'UP' } : verb === 'REBOOT_NODES' ? { nextState: 'RESUME' } : {},
  )
  const change = (values: Partial<ActionInput>) => setSettings((before) => ({ ...before, ...values }))
  const isComplete = verb !== 'UPDATE_JOBS' || Boolean(settings.timeLimitMinutes) || settings.priority !== undefined
  const input: ActionInput = { clusterId, verb, ...selectorOf(targets), ...settings, reason: reason.trim() }
  const { preview, problem, isLoading } = usePreview({ ...input, reason: reason.trim() || '-' }, isComplete)
  async function run() {
    const outcome = await start.run({ input: { ...input, ...(preview ? { fingerprint: preview.fingerprint } : {}) } })
    if (outcome.ok) onStarted(outcome.value.slurmAction.id)
  }
  const shown = start.problem ?? problem
  return (
    <form
      className="flex flex-col gap-4 text-sm"
      onSubmit={(event) => {
        event.preventDefault()
        if (reason.trim() && preview) void run()
      }}
    >
      <p>{t(`slurmVerbText.${verb}`)}</p>
      <TextField
        label={t('slurmAction.reason')}
        hint={t('slurmAction.reasonHint')}
        maxLength={200}
        value={reason}
        onChange={(event) => setReason(event.target.value)}
        error={issueFor(start.problem, 'reason')}
      />
      {verb === 'SET_PARTITION_STATE' && (
        <SelectField
          label={t('slurmPartition.newState')}
          value={settings.partitionState ?? 'UP'}
          onChange={(event) => change({ partitionState: partitionStates.find((state) => state === event.target.value) ?? 'UP' })}
        >
          {partitionStates.map((state) => (
            <option key={state} value={state}>
              {t(`slurmPartitionState.${state}`)}
            </option>
          ))}
        </SelectField>
      )}
      {verb === 'REBOOT_NODES' && (
        <SelectField
          label={t('slurmAction.nextState')}
          value={settings.nextState ?? 'RESUME'}
          onChange={(event) => change({ nextState: nextStates.find((state) => state === event.target.value) ?? 'RESUME' })}
        >
          {nextStates.map((state) => (
            <option key={state} value={state}>
              {t(`slurmNextState.${state}`)}
            </option>
          ))}
        </SelectField>
      )}
      {verb === 'CANCEL_JOBS' && (
        <TextField
          label={t('slurmAction.signal')}
          hint={t('slurmAction.signalHint')}
          mono
          optional
          value={settings.signal ?? ''}
          onChange={(event) => change({ signal: event.target.value.trim() || null })}
          error={issueFor(shown, 'signal')}
        />
      )}
      {verb === 'UPDATE_JOBS' && (
        <div className="grid gap-4 sm:grid-cols-2">
          <TextField
            label={t('slurmAction.timeLimit')}
            type="number"
            min={1}
            optional
            value={settings.timeLimitMinutes ?? ''}
            onChange={(event) => change({ timeLimitMinutes: event.target.value ? Number(event.target.value) : null })}
            error={issueFor(shown, 'timeLimitMinutes')}
          />
          <TextField
            label={t('slurmJob.priority')}
            type="number"
            min={1}
            optional
            value={settings.priority ?? ''}
            onChange={(event) => change({ priority: event.target.value ? Number(event.target.value) : undefined })}
            error={issueFor(shown, 'priority')}
          />
        </div>
      )}
      {shown && <Notice tone="bad">{shown.message}</Notice>}
      {isLoading ? <Skeleton className="h-24 w-full" /> : preview && <PreviewView preview={preview} />}
      <DialogActions>
        {/* "Cancel" beside "Cancel: 2 targets" would be ambiguous. */}
        <Button onClick={onCancel}>{t(verb === 'CANCEL_JOBS' ? 'common.close' : 'common.cancel')}</Button>
        <Button
          type="submit"
          variant={isDangerous(verb) ? 'danger' : 'primary'}
          busy={start.busy}
          showReason
          blockedReason={
            !reason.trim() ? t('slurmAction.needReason') : !isComplete || !preview ? t('slurmAction.needPreview') : null
          }
        >
          {t('slurmAction.start', { verb: t(`slurmVerb.${verb}`), count: preview?.targetCount ?? targets.names.length })}
        </Button>
      </DialogActions>
    </form>
  )
}

/** What the action would do, read again when the input changes and typing pauses. */
function usePreview(input: ActionInput, isComplete: boolean) {
  const key = JSON.stringify(input)
  const [settled, setSettled] = useState(key)
  useEffect(() => {
    const timer = setTimeout(() => setSettled(key), TYPING_PAUSE_MS)
    return () => clearTimeout(timer)
  }, [key])
  const [{ data, error, fetching }] = useQuery({
    query: PreviewAction,
    variables: { input: JSON.parse(settled) as ActionInput },
    pause: !isComplete,
    requestPolicy: 'network-only',
  })
  const outcome = data && unwrap(data)
  return {
    preview: isComplete && outcome?.ok ? outcome.value : null,
    problem: error ? toProblem(error) : outcome && !outcome.ok ? outcome.problem : null,
    isLoading: isComplete && fetching && !data,
  }
}

const SHOWN = 12

function PreviewView({ preview }: { preview: Preview }) {
  const targets = preview.targets.edges.map(({ node }) => node)
  return (
    <section className="flex flex-col gap-2 rounded-md bg-sunken p-3">
      <h3 className="text-xs font-medium text-muted">
        {t('slurmAction.preview', { targets: preview.targetCount, commands: preview.commandCount })}
      </h3>
      {preview.runningJobCount > 0 && (
        <p className="text-warn">{t('slurmAction.runningJobs', { count: preview.runningJobCount })}</p>
      )}
      <ul className="flex flex-col gap-1">
        {targets.slice(0, SHOWN).map(({ target, state, isReached, runningJobs, user }) => (
          <li key={target} className="flex flex-wrap items-baseline gap-x-3">
            <span className="font-mono text-xs font-medium">{target}</span>
            <span className="font-mono text-xs text-muted">{state ?? t('slurmAction.unknown')}</span>
            {user && <span className="text-xs text-muted">{user}</span>}
            {isReached && <span className="text-xs text-muted">{t('slurmResult.UNCHANGED')}</span>}
            {runningJobs.length > 0 && (
              <span className="text-xs text-warn">{t('slurmAction.jobs', { jobs: runningJobs.slice(0, 8).join(', ') })}</span>
            )}
          </li>
        ))}
      </ul>
      {preview.targetCount > SHOWN && (
        <p className="text-xs text-muted">{t('slurmAction.more', { count: preview.targetCount - SHOWN })}</p>
      )}
      {preview.commands.map((command) => (
        <code key={command} className="font-mono text-xs break-all text-faint">
          {command}
        </code>
      ))}
    </section>
  )
}
