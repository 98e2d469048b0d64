'use client'
import { useState } from 'react'
import { issueFor, useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { TextField } from '@/ui/field.tsx'
import { Notice } from '@/ui/notice.tsx'
import { Panel } from '@/ui/page.tsx'
import { toast } from '@/ui/toast.tsx'
import { type AgentSettings, UpdateAgentSettings } from './settings-documents.ts'

const parts = [
  {
    title: 'agentSettings.silence',
    fields: ['heartbeatIntervalSeconds', 'staleAfterSeconds', 'offlineAfterSeconds', 'deregisterAfterDays'],
  },
  { title: 'agentSettings.massOutage', fields: ['massOutagePercent', 'massOutageMinNodes'] },
] as const
type Field = (typeof parts)[number]['fields'][number]
const allFields = parts.flatMap(({ fields }): readonly Field[] => fields)
type Form = Record<Field, string>

const toForm = (settings: AgentSettings): Form =>
  Object.fromEntries(allFields.map((field) => [field, String(settings[field] ?? '')])) as Form

/** Heartbeat interval and thresholds. Sends only changed fields. */
export function AgentSettingsForm({ settings }: { settings: AgentSettings }) {
  const mutation = useMutation(UpdateAgentSettings)
  const [saved, setSaved] = useState(() => toForm(settings))
  const [form, setForm] = useState(saved)
  const changed = allFields.filter((field) => form[field] !== saved[field])
  async function save() {
    const input = Object.fromEntries(changed.map((field) => [field, form[field] === '' ? null : Number(form[field])]))
    const outcome = await mutation.run({ input })
    if (!outcome.ok) return
    setSaved(toForm(outcome.value.agentSettings))
    setForm(toForm(outcome.value.agentSettings))
    toast('ok', t('agentSettings.saved'))
  }
  return (
    <form
      className="flex max-w-3xl flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault()
        if (!mutation.busy && !settings.updateBlockedReason && changed.length > 0) void save()
      }}
    >
      {mutation.problem && mutation.problem.issues.length === 0 && <Notice tone="bad">{mutation.problem.message}</Notice>}
      {parts.map(({ title, fields }) => (
        <Panel key={title} title={t(title)}>
          <div className="grid gap-4 sm:grid-cols-2">
            {fields.map((field) => (
              <TextField
                key={field}
                type="number"
                min={1}
                step={1}
                label={t(`agentSettings.${field}`)}
                hint={t(`agentSettings.${field}Hint`)}
                required={field !== 'deregisterAfterDays'}
                optional={field === 'deregisterAfterDays'}
                disabled={settings.updateBlockedReason !== null}
                value={form[field]}
                onChange={(event) => setForm((before) => ({ ...before, [field]: event.target.value }))}
                error={issueFor(mutation.problem, field)}
              />
            ))}
          </div>
        </Panel>
      ))}
      <div className="flex justify-end gap-2">
        {changed.length > 0 && <Button onClick={() => setForm(saved)}>{t('agentSettings.undo')}</Button>}
        <Button
          variant="primary"
          type="submit"
          showReason
          busy={mutation.busy}
          blockedReason={settings.updateBlockedReason ?? (changed.length === 0 ? t('bulk.nothing') : null)}
        >
          {t('common.save')}
        </Button>
      </div>
    </form>
  )
}
