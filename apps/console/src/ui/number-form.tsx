'use client'
import { useState } from 'react'
import { t } from '@/messages/index.ts'
import { Button } from './button.tsx'
import { TextField } from './field.tsx'
import { Notice } from './notice.tsx'
import { Panel } from './page.tsx'
import { toast } from './toast.tsx'

type NumberField<Name extends string> = {
  name: Name
  label: string
  hint: string
  min?: number
  /** An empty field is null. */
  isOptional?: boolean
  blockedReason: string | null
}

type Numbers<Name extends string> = Record<Name, number | null>
type Problem = { message: string; issues: { path: string; message: string }[] }

type Props<Name extends string> = {
  parts: { title: string; fields: NumberField<Name>[] }[]
  values: Numbers<Name>
  savedText: string
  /** Sends the changed values. @returns the stored values, or null when `problem` has the reason */
  save: (changed: Partial<Numbers<Name>>) => Promise<Numbers<Name> | null>
  busy: boolean
  problem: Problem | null
  issueFor: (name: Name) => string | undefined
}

/** A form of whole numbers. */
export function NumberForm<Name extends string>({ parts, values, savedText, save, busy, problem, issueFor }: Props<Name>) {
  const fields = parts.flatMap((part) => part.fields)
  const toForm = (from: Numbers<Name>) =>
    Object.fromEntries(fields.map(({ name }) => [name, String(from[name] ?? '')])) as Record<Name, string>
  const [saved, setSaved] = useState(() => toForm(values))
  const [form, setForm] = useState(saved)
  const changed = fields.map(({ name }) => name).filter((name) => form[name] !== saved[name])
  const reasons = fields.map((field) => field.blockedReason)
  const blockedReason = reasons.includes(null) ? (changed.length === 0 ? t('bulk.nothing') : null) : (reasons[0] ?? null)
  async function submit() {
    const stored = await save(
      Object.fromEntries(changed.map((name) => [name, form[name] === '' ? null : Number(form[name])])) as Partial<Numbers<Name>>,
    )
    if (!stored) return
    setSaved(toForm(stored))
    setForm(toForm(stored))
    toast('ok', savedText)
  }
  return (
    <form
      className="flex max-w-3xl flex-col gap-4"
      onSubmit={(event) => {
        event.preventDefault()
        if (!busy && !blockedReason) void submit()
      }}
    >
      {problem && problem.issues.length === 0 && <Notice tone="bad">{problem.message}</Notice>}
      {parts.map((part) => (
        <Panel key={part.title} title={part.title}>
          <div className="grid gap-4 sm:grid-cols-2">
            {part.fields.map(({ name, label, hint, min = 1, isOptional = false, ...field }) => (
              <TextField
                key={name}
                type="number"
                min={min}
                step={1}
                label={label}
                hint={field.blockedReason ?? hint}
                required={!isOptional}
                optional={isOptional}
                disabled={field.blockedReason !== null}
                value={form[name]}
                onChange={(event) => setForm((before) => ({ ...before, [name]: event.target.value }))}
                error={issueFor(name)}
              />
            ))}
          </div>
        </Panel>
      ))}
      <div className="flex justify-end gap-2">
        {changed.length > 0 && <Button onClick={() => setForm(saved)}>{t('agentSettings.undo')}</Button>}
        <Button variant="primary" type="submit" showReason busy={busy} blockedReason={blockedReason}>
          {t('common.save')}
        </Button>
      </div>
    </form>
  )
}
