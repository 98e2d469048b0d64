'use client'
import { t } from '@/messages/index.ts'
import { SelectField, TextAreaField, TextField } from '@/ui/field.tsx'
import { type FormValues, type InputField, visibleFields } from './input-schema.ts'

/** A value as text; empty when unset. */
function valueText(value: unknown): string {
  if (typeof value === 'boolean') return t(value ? 'common.yes' : 'common.no')
  if (value === undefined || value === null) return ''
  return typeof value === 'string' ? value : JSON.stringify(value)
}

/** The label of an unset choice, with the default where known. */
function unsetText(field: InputField): string {
  const fallback = valueText(field.fallback)
  return fallback ? t('inputs.default', { value: fallback }) : t('inputs.unset')
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
  if (field.kind === 'choice' || field.kind === 'boolean')
    return (
      <SelectField {...common}>
        <option value="">{unsetText(field)}</option>
        {field.kind === 'boolean' ? (
          <>
            <option value="true">{t('common.yes')}</option>
            <option value="false">{t('common.no')}</option>
          </>
        ) : (
          field.choices.map((choice, index) => (
            <option key={valueText(choice)} value={index}>
              {valueText(choice)}
            </option>
          ))
        )}
      </SelectField>
    )
  const placeholder = valueText(field.fallback)
  if (field.kind === 'lines')
    return (
      <TextAreaField {...common} mono rows={3} hint={[field.description, t('inputs.onePerLine')].filter(Boolean).join(' ')} />
    )
  if (field.kind === 'secret') return <TextField {...common} type="password" autoComplete="new-password" />
  if (field.kind === 'number')
    return (
      <TextField
        {...common}
        type="number"
        min={field.minimum}
        max={field.maximum}
        step={field.isWhole ? 1 : 'any'}
        placeholder={placeholder}
      />
    )
  return <TextField {...common} mono placeholder={placeholder} />
}

/** A form for the inputs of a template, generated from its input schema. */
export function SchemaForm({
  fields,
  values,
  onChange,
  errorOf,
}: {
  fields: InputField[]
  values: FormValues
  onChange: (values: FormValues) => void
  errorOf: (name: string) => string | undefined
}) {
  return (
    <div className="grid gap-4 sm:grid-cols-2">
      {visibleFields(fields, values).map((field) => (
        <Field
          key={field.name}
          field={field}
          value={values[field.name] ?? ''}
          error={errorOf(field.name)}
          onChange={(value) => onChange({ ...values, [field.name]: value })}
        />
      ))}
    </div>
  )
}
