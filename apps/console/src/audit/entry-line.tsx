import { formatNumber, t } from '@/messages/index.ts'
import { Badge } from '@/ui/badge.tsx'
import { RelativeTime } from '@/ui/relative-time.tsx'
import { type AuditEntry, actorText } from './documents.ts'

export const entryColumns =
  'grid grid-cols-[110px_minmax(120px,1fr)_minmax(150px,1fr)_minmax(120px,1fr)_130px_minmax(110px,160px)] items-center gap-x-4 px-4 [&>*]:min-w-0'
export const entryHeight = 44
export const entryCardHeight = 104

const tones = { SUCCEEDED: 'ok', DENIED: 'bad', FAILED: 'warn' } as const

export function OutcomeBadge({ entry: { outcome, count } }: { entry: Pick<AuditEntry, 'outcome' | 'count'> }) {
  return (
    <Badge tone={tones[outcome]}>
      {t(`auditOutcome.${outcome}`)}
      {count > 1 && ` ×${formatNumber(count)}`}
    </Badge>
  )
}

/** One entry of the list: a row, or a card on a phone. */
export function AuditEntryLine({ entry, isNarrow, onOpen }: { entry: AuditEntry; isNarrow: boolean; onOpen: () => void }) {
  const action = (
    <button type="button" onClick={onOpen} className="truncate text-left font-mono text-xs hover:underline" title={entry.action}>
      {entry.action}
    </button>
  )
  const from = [t(`auditChannel.${entry.channel}`), entry.address].filter(Boolean).join(' · ')
  if (isNarrow)
    return (
      <div className="flex h-full flex-col justify-center gap-1.5 border-b border-line px-3 text-sm">
        <div className="flex items-center justify-between gap-2">
          {action}
          <OutcomeBadge entry={entry} />
        </div>
        <span className="truncate" title={entry.objectName ?? ''}>
          {actorText(entry)}
          {entry.objectName && <span className="text-muted"> → {entry.objectName}</span>}
        </span>
        <span className="truncate text-xs text-muted">
          <RelativeTime at={entry.createdAt} /> · {from}
        </span>
      </div>
    )
  return (
    <div className={`${entryColumns} h-full border-b border-line text-sm`}>
      <span className="text-xs text-muted">
        <RelativeTime at={entry.createdAt} />
      </span>
      <span className="truncate" title={actorText(entry)}>
        {actorText(entry)}
      </span>
      {action}
      <span className="truncate" title={entry.objectName ?? ''}>
        {entry.objectName}
      </span>
      <span>
        <OutcomeBadge entry={entry} />
      </span>
      <span className="truncate text-xs text-muted" title={from}>
        {from}
      </span>
    </div>
  )
}
