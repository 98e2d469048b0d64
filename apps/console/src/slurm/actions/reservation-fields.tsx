'use client'
import { useState } from 'react'
import { t } from '@/messages/index.ts'
import { ChoiceField } from '@/ui/choice-field.tsx'
import { TextField } from '@/ui/field.tsx'
import { localTime } from '@/ui/local-time.ts'
import type { ActionInput } from './documents.ts'
import type { FieldProps } from './option-fields.tsx'
import type { Reservation } from './verbs.ts'
import { WordsField } from './words-field.tsx'

type ReservationInput = NonNullable<ActionInput['reservation']>
const FLAGS = ['MAINT', 'IGNORE_JOBS', 'FLEX'] as const satisfies NonNullable<ReservationInput['flags']>[number][]

const MINUTE = 60_000

/** A new reservation, or the changes of an existing one. Only changed fields become part of the input. */
export function ReservationFields({
  reservation,
  input,
  onChange,
  errorOf,
}: FieldProps & {
  /** Null: it is new. */
  reservation: Reservation | null
}) {
  const changes: ReservationInput = input.reservation ?? { name: '' }
  const change = (values: Partial<ReservationInput>) => onChange({ reservation: { ...changes, ...values } })
  const [texts, setTexts] = useState(() => {
    const { startAt, endAt, nodeList } = reservation ?? { startAt: null, endAt: null, nodeList: '' }
    return {
      start: startAt ? localTime(startAt) : '',
      minutes: startAt && endAt ? String(Math.round((Date.parse(endAt) - Date.parse(startAt)) / MINUTE)) : '',
      nodes: nodeList,
    }
  })
  const text = (key: keyof typeof texts, read: (value: string) => Partial<ReservationInput>) => ({
    value: texts[key],
    onChange: ({ target }: { target: { value: string } }) => {
      setTexts((before) => ({ ...before, [key]: target.value }))
      change(read(target.value.trim()))
    },
  })
  return (
    <>
      {!reservation && (
        <TextField
          label={t('slurmReservation.name')}
          mono
          value={changes.name}
          onChange={({ target }) => change({ name: target.value.trim() })}
          error={errorOf('reservation.name')}
        />
      )}
      <TextField
        label={t('slurm.nodes')}
        placeholder={reservation?.nodeList}
        mono
        {...text('nodes', (value) => ({ hostlist: value || null }))}
        error={errorOf('reservation.hostlist')}
      />
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          label={t('slurmReservation.start')}
          hint={t(reservation ? 'slurmReservation.timeHint' : 'slurmReservation.startHint')}
          type="datetime-local"
          optional={!reservation}
          {...text('start', (value) => ({ startAt: value ? new Date(value).toISOString() : null }))}
          error={errorOf('reservation.startAt')}
        />
        <TextField
          label={t('slurmReservation.duration')}
          type="number"
          min={1}
          {...text('minutes', (value) => ({ durationMinutes: value ? Number(value) : null }))}
          error={errorOf('reservation.durationMinutes')}
        />
        <WordsField
          label={t('slurmReservation.users')}
          hint={t('slurmReservation.usersHint')}
          placeholder={reservation?.users.join(', ')}
          words={reservation?.users ?? []}
          onWords={(users) => change({ users })}
          error={errorOf('reservation.users')}
        />
        <WordsField
          label={t('slurmReservation.accounts')}
          placeholder={reservation?.accounts.join(', ')}
          words={reservation?.accounts ?? []}
          onWords={(accounts) => change({ accounts })}
          error={errorOf('reservation.accounts')}
        />
      </div>
      {!reservation && (
        <ChoiceField
          label={t('slurmReservation.flags')}
          optional
          choices={FLAGS.map((id) => ({ id, label: t(`slurmReservationFlag.${id}`) }))}
          value={[...(changes.flags ?? [])]}
          onChange={(ids) => change({ flags: FLAGS.filter((flag) => ids.includes(flag)) })}
        />
      )}
    </>
  )
}
