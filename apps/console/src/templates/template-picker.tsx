import clsx from 'clsx'
import { t } from '@/messages/index.ts'
import type { Template } from '@/runs/documents.ts'
import { Badge } from '@/ui/badge.tsx'

/** Selects a template. */
export function TemplatePicker({
  templates,
  value,
  onChange,
}: {
  templates: Template[]
  value: string
  onChange: (name: string) => void
}) {
  return (
    <fieldset className="grid gap-2 sm:grid-cols-2">
      <legend className="sr-only">{t('runs.template')}</legend>
      {templates.map((template) => (
        <label
          key={template.id}
          className={clsx(
            'flex cursor-pointer gap-2.5 rounded-lg border p-3',
            template.name === value ? 'border-accent bg-accent-soft' : 'border-line-strong hover:bg-hover',
          )}
        >
          <input
            type="radio"
            name="template"
            className="mt-0.5 size-4 accent-accent"
            checked={template.name === value}
            onChange={() => onChange(template.name)}
          />
          <span className="min-w-0">
            <span className="flex flex-wrap items-center gap-1.5 text-sm font-medium">
              {template.displayName}
              {template.become && <Badge>{t('runs.become')}</Badge>}
            </span>
            <span className="mt-0.5 block text-xs text-muted">{template.description}</span>
          </span>
        </label>
      ))}
    </fieldset>
  )
}
