'use client'
import { useState } from 'react'
import { t } from '@/messages/index.ts'

/** Whether a value, or a nested key or value, contains the text (case-insensitive). */
function contains(value: unknown, text: string): boolean {
  if (value !== null && typeof value === 'object')
    return Object.entries(value).some(([key, each]) => key.toLowerCase().includes(text) || contains(each, text))
  return String(value).toLowerCase().includes(text)
}

function Leaf({ value }: { value: unknown }) {
  if (value === null || value === undefined) return <span className="text-faint">{t('common.none')}</span>
  return <span className={typeof value === 'string' ? 'break-all' : 'text-accent'}>{String(value)}</span>
}

function Branch({ name, value, text, depth }: { name: string; value: unknown; text: string; depth: number }) {
  const isBranch = value !== null && typeof value === 'object'
  const [isOpen, setOpen] = useState(depth < 1)
  const isNameMatch = text !== '' && name.toLowerCase().includes(text)
  if (text && !isNameMatch && !contains(value, text)) return null
  if (!isBranch) {
    return (
      <li className="flex gap-3 py-0.5">
        <span className="shrink-0 text-muted">{name}</span>
        <Leaf value={value} />
      </li>
    )
  }
  const entries = Object.entries(value)
  return (
    <li className="py-0.5">
      <details open={isOpen || text !== ''} onToggle={(event) => !text && setOpen(event.currentTarget.open)}>
        <summary className="w-fit select-none">
          <span className="text-muted">{name}</span>{' '}
          <span className="text-faint tabular-nums">{t('facts.entries', { count: entries.length })}</span>
        </summary>
        {(isOpen || text) && (
          <ul className="ml-1.5 border-l border-line pl-4">
            {entries.map(([key, each]) => (
              <Branch key={key} name={key} value={each} text={isNameMatch ? '' : text} depth={depth + 1} />
            ))}
          </ul>
        )}
      </details>
    </li>
  )
}

/** JSON as a collapsible tree; `search` keeps only entries that contain the text. */
export function JsonTree({ value, search }: { value: unknown; search: string }) {
  const entries = value !== null && typeof value === 'object' ? Object.entries(value) : []
  const text = search.trim().toLowerCase()
  const matches = entries.filter(([key, each]) => !text || key.toLowerCase().includes(text) || contains(each, text))
  if (matches.length === 0) return <p className="py-6 text-center text-sm text-muted">{t('facts.noMatch')}</p>
  return (
    <ul className="font-mono text-xs leading-5">
      {matches.map(([key, each]) => (
        <Branch key={key} name={key} value={each} text={text} depth={0} />
      ))}
    </ul>
  )
}
