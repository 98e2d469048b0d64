'use client'
import { useState } from 'react'
import { relativePath, useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { DialogActions } from '@/ui/dialog.tsx'
import { TextField } from '@/ui/field.tsx'
import { Notice } from '@/ui/notice.tsx'
import { Skeleton } from '@/ui/skeleton.tsx'
import { ActionPreview, useActionPreview } from './action-preview.tsx'
import { ConditionFields } from './condition-fields.tsx'
import { type ActionInput, StartAction } from './documents.ts'
import { missingInput } from './missing-input.ts'
import { OptionFields } from './option-fields.tsx'
import { ReservationFields } from './reservation-fields.tsx'
import { isDangerous, selectorOf, type Targets, type Verb } from './verbs.ts'

/** Input fields that show their own problems. */
const WITH_FIELD =
  /^(reason|signal|timeLimitMinutes|priority|weight|features|jobs\.user|nodes\.hostlist|reservation\.(name|hostlist|startAt|durationMinutes|users|accounts))\b/

/** The targets, reason and options of an action, with a preview of its targets and commands. */
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
  const [fields, setFields] = useState<ActionInput>(() => ({
    clusterId,
    verb,
    reason: '',
    ...selectorOf(targets),
    ...(verb === 'SET_PARTITION_STATE' ? { partitionState: 'UP' } : verb === 'REBOOT_NODES' ? { nextState: 'RESUME' } : {}),
  }))
  const onChange = (values: Partial<ActionInput>) => {
    start.clear()
    setFields((before) => ({ ...before, ...values }))
  }
  const input = { ...fields, reason: fields.reason.trim() }
  const missing = missingInput(input)
  const { preview, problem, isCurrent, isLoading } = useActionPreview({ ...input, reason: input.reason || '-' }, missing === null)
  const shown = start.problem ?? problem
  const errorOf = (path: string) =>
    shown?.issues.find((issue) => relativePath(issue) === path || relativePath(issue).startsWith(`${path}.`))?.message
  const others = shown?.issues.filter((issue) => !WITH_FIELD.test(relativePath(issue))).map(({ message }) => message) ?? []
  const notice = shown && (shown.issues.length === 0 ? shown.message : others.join('\n'))
  const blockedReason =
    missing ?? (input.reason ? (preview && isCurrent ? null : t('slurmAction.needPreview')) : t('slurmAction.needReason'))
  async function run() {
    if (!preview || blockedReason) return
    const outcome = await start.run({ input: { ...input, fingerprint: preview.fingerprint } })
    if (outcome.ok) onStarted(outcome.value.slurmAction.id)
  }
  const shared = { input: fields, onChange, errorOf }
  return (
    <form
      className="flex flex-col gap-4 text-sm"
      onSubmit={(event) => {
        event.preventDefault()
        void run()
      }}
    >
      <p>{t(`slurmVerbText.${verb}`)}</p>
      {'partition' in targets && <ConditionFields {...shared} targets={targets} />}
      {targets.kind === 'reservations' && verb !== 'DELETE_RESERVATION' && (
        <ReservationFields {...shared} reservation={targets.reservation} />
      )}
      <TextField
        label={t('slurmAction.reason')}
        hint={t('slurmAction.reasonHint')}
        maxLength={200}
        value={fields.reason}
        onChange={(event) => onChange({ reason: event.target.value })}
        error={errorOf('reason')}
      />
      <OptionFields {...shared} />
      {notice && <Notice tone="bad">{notice}</Notice>}
      {isLoading ? <Skeleton className="h-24 w-full" /> : preview && <ActionPreview preview={preview} isCurrent={isCurrent} />}
      <DialogActions>
        {/* "Cancel" beside "Cancel: 2 targets" would be ambiguous. */}
        <Button onClick={onCancel}>{t(verb === 'CANCEL_JOBS' ? 'common.close' : 'common.cancel')}</Button>
        <Button
          type="submit"
          variant={isDangerous(verb) ? 'danger' : 'primary'}
          busy={start.busy}
          showReason
          blockedReason={blockedReason}
        >
          {labelOf(verb, targets, preview?.targetCount)}
        </Button>
      </DialogActions>
    </form>
  )
}

/** What the button starts: a reservation by name, other targets by number. */
function labelOf(verb: Verb, targets: Targets, previewed: number | undefined): string {
  const text = t(`slurmVerb.${verb}`)
  if (targets.kind === 'reservations')
    return targets.reservation ? t('slurmAction.startNamed', { verb: text, name: targets.reservation.name }) : text
  const count = previewed ?? ('names' in targets ? targets.names.length : undefined)
  return count === undefined ? text : t('slurmAction.start', { verb: text, count })
}
