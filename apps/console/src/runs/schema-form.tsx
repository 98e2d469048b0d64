'use client'
import { t } from '@/messages/index.ts'
import { SelectField, TextAreaField, TextField } from '@/ui/field.tsx'
import { type InputField, shownFields, type Typed } from './input-schema.ts'

/** A value as one would write it; nothing when there is none. */
function inWords(value: unknown): string {
  if (typeof value === 'boolean') return t(value ? 'common.yes' : 'common.no')
  if (value === undefined || value === null) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** What stands for "not given" in a choice: what holds then, where it is known. */
function unset(field: InputField): string {
  const words = inWords(field.fallback)
  return words ? t('inputs.unsetIs', { value: words }) : t('inputs.unset')
}

function Field({
  field,
  value,
  error,
  onChange,
}: {
  field: InputField
  value: string
  error?: string
  onChange: (value: string) => void
}) {
  const common = {
    label: field.label,
    hint: field.description,
    optional: !field.isRequired,
    error,
    value,
    onChange: (event: { target: { value: string } }) => onChange(event.target.value),
  }
  if (field.kind === 'choice' || field.kind === 'yes')
    return (
      <SelectField {...common}>
        <option value="">{unset(field)}</option>
        {field.kind === 'yes' ? (
          <>
            <option value="true">{t('common.yes')}</option>
            <option value="false">{t('common.no')}</option>
          </>
        ) : (
          field.choices.map((choice, index) => (
            <option key={inWords(choice)} value={index}>
              {inWords(choice)}
            </option>
          ))
        )}
      </SelectField>
    )
  const words = inWords(field.fallback)
  if (field.kind === 'lines')
    return <TextAreaField {...common} mono rows={3} hint={[field.description, t('inputs.oneALine')].filter(Boolean).join(' ')} />
  if (field.kind === 'secret') return <TextField {...common} type="password" autoComplete="new-password" />
  if (field.kind === 'number')
    return (
      <TextField
        {...common}
        type="number"
        min={field.minimum}
        max={field.maximum}
        step={field.isWhole ? 1 : 'any'}
        placeholder={words}
      />
    )
  return <TextField {...common} mono placeholder={words} />
}

/** What a template wants to be given, as its input schema says. */
export function SchemaForm({
  fields,
  typed,
  onChange,
  errorOf,
}: {
  fields: InputField[]
  typed: Typed
  onChange: (typed: Typed) => void
  errorOf: (name: string) => string | undefined
}) {
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      {shownFields(fields, typed).map((field) => (
        <Field
          key={field.name}
          field={field}
          value={typed[field.name] ?? ''}
          error={errorOf(field.name)}
          onChange={(value) => onChange({ ...typed, [field.name]: value })}
        />
      ))}
    </div>
  )
}
