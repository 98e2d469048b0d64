'use client'
import { useId } from 'react'
import { useQuery } from 'urql'
import { t } from '@/messages/index.ts'
import { TextField } from '@/ui/field.tsx'
import { useSettled } from '@/ui/hooks/use-settled.ts'
import { GroupNamesQuery } from './documents.ts'

/** Field for the name of the parent. Suggests only groups that match the typed text: a tenant can have thousands. */
export function ParentField({
  value,
  own,
  error,
  onChange,
}: {
  value: string
  own?: string | undefined
  error?: string | undefined
  onChange: (name: string) => void
}) {
  const listId = useId()
  const text = useSettled(value.trim())
  const [{ data }] = useQuery({ query: GroupNamesQuery, variables: { filter: text ? { text } : {} } })
  return (
    <>
      <TextField
        label={t('group.parent')}
        optional
        mono
        list={listId}
        autoComplete="off"
        hint={t('group.parentHint')}
        value={value}
        onChange={(event) => onChange(event.target.value)}
        error={error}
      />
      <datalist id={listId}>
        {data?.nodeGroups.edges.map(({ node }) => node.name !== own && <option key={node.id} value={node.name} />)}
      </datalist>
    </>
  )
}
