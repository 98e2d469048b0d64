'use client'
import { useQuery } from 'urql'
import { t } from '@/messages/index.ts'
import { SelectField, TextField } from '@/ui/field.tsx'
import type { CredentialRow } from './documents.ts'
import { SecretStoreNames } from './secret-store-documents.ts'

export type SecretField = CredentialRow['secretRefs'][number]['field']
/** Where each secret is in its store, as `PATH#KEY`. */
export type Locations = Partial<Record<SecretField, string>>

const EXAMPLES: Record<SecretField, string> = {
  PRIVATE_KEY: 'nodes/gpu#ssh_key',
  PASSPHRASE: 'nodes/gpu#passphrase',
  PASSWORD: 'nodes/gpu#password',
}

export const locationsOf = (refs: CredentialRow['secretRefs']): Locations =>
  Object.fromEntries(refs.map(({ field, path, key }) => [field, `${path}#${key}`]))

/** The references of the given fields; fields without a location are left out. A location without `#` has an empty key. */
export const refsOf = (fields: readonly SecretField[], locations: Locations) =>
  fields.flatMap((field) => {
    const [, path = '', key = ''] = /^([^#]*)#?(.*)$/s.exec(locations[field]?.trim() ?? '') ?? []
    return path || key ? [{ field, path, key }] : []
  })

type SelectProps = { value: string; onChange: (storeId: string) => void; error?: string }

/** Where the secrets are: in Muster or in a secret store. Absent while the tenant has no stores. */
export function SecretStoreSelect({ value, onChange, error }: SelectProps) {
  const [{ data }] = useQuery({ query: SecretStoreNames, variables: { first: 500 }, requestPolicy: 'cache-and-network' })
  const stores = data?.secretStores.edges.map(({ node }) => node) ?? []
  if (stores.length === 0 && !value) return null
  return (
    <SelectField
      className="sm:col-span-2"
      label={t('credential.secretSource')}
      value={value}
      onChange={(event) => onChange(event.target.value)}
      error={error}
    >
      <option value="">{t('credential.inMuster')}</option>
      {stores.map(({ id, name }) => (
        <option key={id} value={id}>
          {t('credential.inStore', { name })}
        </option>
      ))}
    </SelectField>
  )
}

type LocationProps = {
  fields: readonly SecretField[]
  locations: Locations
  onChange: (locations: Locations) => void
  labelOf: (field: SecretField) => string
  isOptional: (field: SecretField) => boolean
  error: (field: SecretField) => string | undefined
}

/** Asks where the store has each secret; the values themselves never pass through the console. */
export function SecretLocations({ fields, locations, onChange, labelOf, isOptional, error }: LocationProps) {
  const errorOf = (field: SecretField) => {
    const message = error(field)
    return message && `${message}. ${t('credential.locationHint')}`
  }
  return fields.map((field) => (
    <TextField
      key={field}
      className="sm:col-span-2"
      label={labelOf(field)}
      mono
      optional={isOptional(field)}
      placeholder={EXAMPLES[field]}
      value={locations[field] ?? ''}
      onChange={(event) => onChange({ ...locations, [field]: event.target.value })}
      error={errorOf(field)}
      autoComplete="off"
      hint={t('credential.locationHint')}
    />
  ))
}
