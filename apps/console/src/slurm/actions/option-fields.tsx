'use client'
import { t } from '@/messages/index.ts'
import { CheckField, SelectField, TextField } from '@/ui/field.tsx'
import type { ActionInput } from './documents.ts'
import { WordsField } from './words-field.tsx'

const partitionStates = ['UP', 'DRAIN', 'DOWN', 'INACTIVE'] as const
const nextStates = ['RESUME', 'DOWN'] as const

export type FieldProps = {
  input: ActionInput
  onChange: (values: Partial<ActionInput>) => void
  /** The problem of an input field or of a part of it. */
  errorOf: (path: string) => string | undefined
}

/** The options of the input's verb. */
export function OptionFields({ input, onChange, errorOf }: FieldProps) {
  const number = (field: 'weight' | 'timeLimitMinutes' | 'priority', min: number) => ({
    type: 'number',
    min,
    optional: true,
    value: input[field] ?? '',
    onChange: ({ target }: { target: { value: string } }) => onChange({ [field]: target.value ? Number(target.value) : null }),
    error: errorOf(field) ?? null,
  })
  switch (input.verb) {
    case 'SET_PARTITION_STATE':
      return (
        <SelectField
          label={t('slurmPartition.newState')}
          value={input.partitionState ?? 'UP'}
          onChange={({ target }) => onChange({ partitionState: partitionStates.find((state) => state === target.value) ?? 'UP' })}
        >
          {partitionStates.map((state) => (
            <option key={state} value={state}>
              {t(`slurmPartitionState.${state}`)}
            </option>
          ))}
        </SelectField>
      )
    case 'REBOOT_NODES':
      return (
        <SelectField
          label={t('slurmAction.nextState')}
          value={input.nextState ?? 'RESUME'}
          onChange={({ target }) => onChange({ nextState: nextStates.find((state) => state === target.value) ?? 'RESUME' })}
        >
          {nextStates.map((state) => (
            <option key={state} value={state}>
              {t(`slurmNextState.${state}`)}
            </option>
          ))}
        </SelectField>
      )
    case 'UPDATE_NODES':
      return (
        <div className="grid gap-4 sm:grid-cols-2">
          <WordsField
            label={t('slurmNode.features')}
            hint={t('slurmAction.featuresHint')}
            optional
            words={[]}
            onWords={(features) => onChange({ features })}
            error={errorOf('features')}
          />
          <TextField label={t('slurmNode.weight')} hint={t('slurmAction.weightHint')} {...number('weight', 0)} />
        </div>
      )
    case 'CANCEL_JOBS':
      return (
        <TextField
          label={t('slurmAction.signal')}
          hint={t('slurmAction.signalHint')}
          mono
          optional
          value={input.signal ?? ''}
          onChange={({ target }) => onChange({ signal: target.value.trim() || null })}
          error={errorOf('signal')}
        />
      )
    case 'UPDATE_JOBS':
      return (
        <div className="grid gap-4 sm:grid-cols-2">
          <div className="flex flex-col gap-2">
            <TextField
              label={t('slurmAction.timeLimit')}
              disabled={input.unlimitedTime === true}
              {...number('timeLimitMinutes', 1)}
            />
            <CheckField
              label={t('slurmAction.unlimited')}
              checked={input.unlimitedTime === true}
              onChange={({ target }) =>
                onChange(target.checked ? { unlimitedTime: true, timeLimitMinutes: null } : { unlimitedTime: null })
              }
            />
          </div>
          <TextField label={t('slurmJob.priority')} {...number('priority', 1)} />
        </div>
      )
    default:
      return null
  }
}
