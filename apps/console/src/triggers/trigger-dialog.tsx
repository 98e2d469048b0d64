'use client'
import { Plus, Trash2 } from 'lucide-react'
import { useState } from 'react'
import { useQuery } from 'urql'
import { issueFor, issuesWithin, otherIssues, useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { TemplatesQuery } from '@/runs/documents.ts'
import { parseVars } from '@/runs/parse-vars.ts'
import { Button } from '@/ui/button.tsx'
import { Dialog } from '@/ui/dialog.tsx'
import { CheckField, SelectField, TextAreaField, TextField } from '@/ui/field.tsx'
import { Notice } from '@/ui/notice.tsx'
import { toast } from '@/ui/toast.tsx'
import { CreateTrigger, type Trigger, UpdateTrigger } from './documents.ts'
import type { ShownSecret } from './secret-dialog.tsx'

type Variable = Trigger['variables'][number]
const SHOWN = ['name', 'template', 'limit', 'nodesPath', 'settings', 'variables', 'maxPerHour']

function VariableFields({ value, onChange }: { value: Variable[]; onChange: (value: Variable[]) => void }) {
  const change = (index: number, fields: Partial<Variable>) =>
    onChange(value.map((each, i) => (i === index ? { ...each, ...fields } : each)))
  return (
    <div className="flex flex-col gap-3">
      {value.map((variable, i) => (
        <fieldset
          // biome-ignore lint/suspicious/noArrayIndexKey: entries have no identity before they are saved
          key={i}
          className="grid gap-3 rounded-md border border-line p-3 sm:grid-cols-2"
        >
          <legend className="sr-only">{t('trigger.variableNumber', { number: i + 1 })}</legend>
          <TextField
            mono
            label={t('trigger.variableName')}
            value={variable.name}
            onChange={(e) => change(i, { name: e.target.value })}
          />
          <TextField
            mono
            label={t('trigger.variablePath')}
            placeholder={t('trigger.variableExample')}
            value={variable.path}
            onChange={(e) => change(i, { path: e.target.value })}
          />
          <CheckField
            label={t('trigger.required')}
            checked={variable.isRequired}
            onChange={(e) => change(i, { isRequired: e.target.checked })}
          />
          <Button
            className="justify-self-start sm:justify-self-end"
            variant="quiet"
            icon={<Trash2 aria-hidden />}
            onClick={() => onChange(value.filter((_, index) => index !== i))}
          >
            {t('trigger.removeVariable')}
          </Button>
        </fieldset>
      ))}
      <div>
        <Button icon={<Plus aria-hidden />} onClick={() => onChange([...value, { name: '', path: '', isRequired: true }])}>
          {t('trigger.addVariable')}
        </Button>
      </div>
    </div>
  )
}

const formOf = (trigger: Trigger | null) => ({
  name: trigger?.name ?? '',
  template: trigger?.template.name ?? '',
  limit: trigger?.limit ?? '',
  nodesPath: trigger?.nodesPath ?? '',
  vars: varsText(trigger),
  variables: trigger?.variables ?? [],
  signature: trigger?.signature ?? ('MUSTER' as const),
  maxPerHour: String(trigger?.maxPerHour ?? 60),
})
function varsText(trigger: Trigger | null): string {
  const extraVars = trigger?.settings.extraVars ?? {}
  return Object.keys(extraVars).length > 0 ? JSON.stringify(extraVars, null, 2) : ''
}

type Props = { trigger: Trigger | null; onClose: () => void; onDone: (shown: ShownSecret | null) => void }

/** Creates or changes a trigger. */
export function TriggerDialog({ trigger, onClose, onDone }: Props) {
  const [{ data }] = useQuery({ query: TemplatesQuery })
  const create = useMutation(CreateTrigger)
  const update = useMutation(UpdateTrigger)
  const [form, setForm] = useState(() => formOf(trigger))
  const change = (fields: Partial<typeof form>) => setForm((before) => ({ ...before, ...fields }))
  const parsed = parseVars(form.vars)
  const problem = create.problem ?? update.problem
  const others = otherIssues(problem, SHOWN)
  const keepsSettings = trigger?.settings.drainsSlurmNodes ?? false
  async function save() {
    const { vars: _vars, signature, maxPerHour, nodesPath, ...rest } = form
    const { drainsSlurmNodes: _drains, ...kept } = trigger?.settings ?? {}
    const settings = keepsSettings ? {} : { settings: { ...kept, extraVars: (parsed.vars ?? {}) as never } }
    const fields = { ...rest, ...settings, nodesPath: nodesPath || null, maxPerHour: Number(maxPerHour) || 0 }
    if (trigger) {
      const outcome = await update.run({ input: { ...fields, id: trigger.id } })
      if (!outcome.ok) return
      toast('ok', t('trigger.saved', { name: outcome.value.trigger.name }))
      return onDone(null)
    }
    const outcome = await create.run({ input: { ...fields, signature } })
    if (outcome.ok) onDone(outcome.value)
  }
  const blocked = !form.name.trim()
    ? t('schedule.needName')
    : !form.template
      ? t('runs.needTemplate')
      : !form.limit.trim()
        ? t('runs.needTarget')
        : parsed.error
          ? t('runs.needVars')
          : null
  return (
    <Dialog
      wide
      title={trigger ? t('trigger.editTitle', { name: trigger.name }) : t('trigger.new')}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{t('common.cancel')}</Button>
          <Button
            variant="primary"
            showReason
            busy={create.busy || update.busy}
            blockedReason={blocked}
            onClick={() => void save()}
          >
            {t('common.save')}
          </Button>
        </>
      }
    >
      <div className="grid gap-4 sm:grid-cols-2">
        {problem && (problem.issues.length === 0 || others.length > 0) && (
          <div className="sm:col-span-2">
            <Notice tone="bad">{others.map(({ message }) => message).join(' ') || problem.message}</Notice>
          </div>
        )}
        <TextField
          label={t('schedule.name')}
          value={form.name}
          onChange={(event) => change({ name: event.target.value })}
          error={issueFor(problem, 'name')}
        />
        <SelectField
          label={t('runs.template')}
          value={form.template}
          onChange={(event) => change({ template: event.target.value })}
          error={issueFor(problem, 'template')}
        >
          <option value="">{t('schedule.choose')}</option>
          {data?.jobTemplates.edges.map(({ node }) => (
            <option key={node.id} value={node.name}>
              {node.displayName}
            </option>
          ))}
        </SelectField>
        <TextField
          mono
          label={t('runs.limit')}
          placeholder={t('runs.limitExample')}
          value={form.limit}
          onChange={(event) => change({ limit: event.target.value })}
          error={issueFor(problem, 'limit')}
          hint={t('trigger.limitHint')}
        />
        <TextField
          mono
          optional
          label={t('trigger.nodesPath')}
          placeholder={t('trigger.nodesExample')}
          value={form.nodesPath}
          onChange={(event) => change({ nodesPath: event.target.value })}
          error={issueFor(problem, 'nodesPath')}
          hint={t('trigger.nodesPathHint')}
        />
        <SelectField
          label={t('trigger.signature')}
          value={form.signature}
          disabled={trigger !== null}
          onChange={(event) => change({ signature: event.target.value as Trigger['signature'] })}
          hint={t('trigger.signatureHint')}
        >
          <option value="MUSTER">{t('triggerSignature.MUSTER')}</option>
          <option value="GITHUB">{t('triggerSignature.GITHUB')}</option>
        </SelectField>
        <TextField
          type="number"
          min={1}
          label={t('trigger.maxPerHour')}
          value={form.maxPerHour}
          onChange={(event) => change({ maxPerHour: event.target.value })}
          error={issueFor(problem, 'maxPerHour')}
        />
        <div className="flex flex-col gap-2 sm:col-span-2">
          <p className="text-sm font-medium">{t('trigger.variables')}</p>
          <p className="text-xs text-muted">{t('trigger.variablesText')}</p>
          <VariableFields value={form.variables} onChange={(variables) => change({ variables })} />
          {issuesWithin(problem, 'variables') && (
            <p role="alert" className="text-xs whitespace-pre-line text-bad">
              {issuesWithin(problem, 'variables')}
            </p>
          )}
        </div>
        {keepsSettings ? (
          <p className="text-sm text-muted sm:col-span-2">{t('schedule.drains')}</p>
        ) : (
          <TextAreaField
            className="sm:col-span-2"
            mono
            optional
            rows={3}
            label={t('trigger.fixedVars')}
            value={form.vars}
            onChange={(event) => change({ vars: event.target.value })}
            error={parsed.error ?? issuesWithin(problem, 'settings')}
            hint={t('schedule.varsHint')}
          />
        )}
        <p className="text-xs text-muted sm:col-span-2">{t('trigger.ownerText')}</p>
      </div>
    </Dialog>
  )
}
