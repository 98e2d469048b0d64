'use client'
import { useState } from 'react'
import { t } from '@/messages/index.ts'

/** Whether a value, or a key or value within it, holds the text (any case). */
function holds(value: unknown, wanted: string): boolean {
  if (value !== null && typeof value === 'object')
    return Object.entries(value).some(([key, each]) => key.toLowerCase().includes(wanted) || holds(each, wanted))
  return String(value).toLowerCase().includes(wanted)
}

function Leaf({ value }: { value: unknown }) {
  if (value === null || value === undefined) return <span className="text-faint">{t('common.none')}</span>
  return <span className={typeof value === 'string' ? 'break-all' : 'text-accent'}>{String(value)}</span>
}

function Branch({ name, value, wanted, depth }: { name: string; value: unknown; wanted: string; depth: number }) {
  const isBranch = value !== null && typeof value === 'object'
  const [isOpen, setOpen] = useState(depth < 1)
  const isNameHit = wanted !== '' && name.toLowerCase().includes(wanted)
  if (wanted && !isNameHit && !holds(value, wanted)) return null
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
      <details open={isOpen || wanted !== ''} onToggle={(event) => !wanted && setOpen(event.currentTarget.open)}>
        <summary className="w-fit select-none">
          <span className="text-muted">{name}</span>{' '}
          <span className="text-faint tabular-nums">{t('facts.entries', { count: entries.length })}</span>
        </summary>
        {(isOpen || wanted) && (
          <ul className="ml-1.5 border-l border-line pl-4">
            {entries.map(([key, each]) => (
              <Branch key={key} name={key} value={each} wanted={isNameHit ? '' : wanted} depth={depth + 1} />
            ))}
          </ul>
        )}
      </details>
    </li>
  )
}

/** JSON as a tree that opens; `search` leaves only what holds the text. */
export function JsonTree({ value, search }: { value: unknown; search: string }) {
  const entries = value !== null && typeof value === 'object' ? Object.entries(value) : []
  const wanted = search.trim().toLowerCase()
  const shown = entries.filter(([key, each]) => !wanted || key.toLowerCase().includes(wanted) || holds(each, wanted))
  if (shown.length === 0) return <p className="py-6 text-center text-sm text-muted">{t('facts.noMatch')}</p>
  return (
    <ul className="font-mono text-xs leading-5">
      {shown.map(([key, each]) => (
        <Branch key={key} name={key} value={each} wanted={wanted} depth={0} />
      ))}
    </ul>
  )
}
