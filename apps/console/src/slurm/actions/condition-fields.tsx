'use client'
import { t } from '@/messages/index.ts'
import { SelectField, TextField } from '@/ui/field.tsx'
import type { ActionInput } from './documents.ts'
import type { FieldProps } from './option-fields.tsx'
import type { MatchedTargets } from './verbs.ts'

/** The conditions that nodes or jobs must meet. */
export function ConditionFields({ targets, input, onChange, errorOf }: FieldProps & { targets: MatchedTargets }) {
  const { kind, partitions, states } = targets
  const conditions = input[kind]
  const change = (values: Partial<NonNullable<ActionInput['nodes' | 'jobs']>>) =>
    onChange({ [kind]: { ...conditions, ...values } })
  return (
    <div className="grid gap-4 sm:grid-cols-3">
      {kind === 'jobs' ? (
        <TextField
          label={t('slurmJob.user')}
          mono
          optional
          value={input.jobs?.user ?? ''}
          onChange={({ target }) => change({ user: target.value.trim() || null })}
          error={errorOf('jobs.user')}
        />
      ) : (
        <TextField
          label={t('slurm.nodes')}
          mono
          optional
          value={input.nodes?.hostlist ?? ''}
          onChange={({ target }) => change({ hostlist: target.value.trim() || null })}
          error={errorOf('nodes.hostlist')}
        />
      )}
      <SelectField
        label={t('slurmJob.partition')}
        value={conditions?.partition ?? ''}
        onChange={({ target }) => change({ partition: target.value || null })}
      >
        <option value="">{t('slurm.anyPartition')}</option>
        {partitions.map((name) => (
          <option key={name}>{name}</option>
        ))}
      </SelectField>
      <SelectField
        label={t('slurmJob.state')}
        value={conditions?.states?.[0] ?? ''}
        onChange={({ target }) => change({ states: target.value ? [target.value] : null })}
      >
        <option value="">{t('slurm.anyState')}</option>
        {states.map((state) => (
          <option key={state}>{state}</option>
        ))}
      </SelectField>
    </div>
  )
}
