import { t } from '@/messages/index.ts'
import type { AuditEntry } from './documents.ts'

const MAX_LINE = 80

/** JSON of a value as text: a string without quotes, a long object or list with indents. */
function textOf(json: string): string {
  const value: unknown = JSON.parse(json)
  return typeof value === 'string' ? value : json.length <= MAX_LINE ? json : JSON.stringify(value, null, 2)
}

const isEmpty = (json: string | null) => json === null || json === 'null' || json === '""'

/** Changed fields of an entry, the earlier value first. */
export function AuditDiff({ changes }: { changes: AuditEntry['changes'] }) {
  if (changes.length === 0) return <p className="text-sm text-muted">{t('audit.noChange')}</p>
  return (
    <ul className="flex flex-col">
      {changes.map(({ field, before, after }) => (
        <li
          key={field}
          className="grid gap-x-4 gap-y-1 border-b border-line py-2 font-mono text-xs leading-5 last:border-0 md:grid-cols-[180px_minmax(0,1fr)]"
        >
          <span className="min-w-0 break-words">{field}</span>
          <span className="flex min-w-0 flex-col gap-1">
            {!isEmpty(before) && (
              <del className="max-h-40 overflow-auto rounded bg-bad-soft px-1.5 break-all whitespace-pre-wrap text-bad no-underline">
                <span aria-hidden>− </span>
                {textOf(before!)}
              </del>
            )}
            {!isEmpty(after) && (
              <ins className="max-h-40 overflow-auto rounded bg-ok-soft px-1.5 break-all whitespace-pre-wrap text-ok no-underline">
                <span aria-hidden>+ </span>
                {textOf(after!)}
              </ins>
            )}
            {isEmpty(before) && isEmpty(after) && <span className="text-faint">{t('common.none')}</span>}
          </span>
        </li>
      ))}
    </ul>
  )
}
