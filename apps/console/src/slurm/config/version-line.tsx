import { t } from '@/messages/index.ts'
import { Badge, State } from '@/ui/badge.tsx'
import { RelativeTime } from '@/ui/relative-time.tsx'
import type { VersionRow } from './documents.ts'

export const VERSION_HEIGHT = 60

/** A version in the list. */
export function VersionLine({
  version: { number, origin, reason, createdAt, createdBy },
  isCurrent,
  onOpen,
}: {
  version: VersionRow
  isCurrent: boolean
  onOpen: () => void
}) {
  return (
    <div className="relative flex h-full flex-col justify-center gap-1 border-b border-line px-4 text-sm hover:bg-hover">
      <div className="flex items-center gap-3">
        <button
          type="button"
          onClick={onOpen}
          className="min-w-0 truncate text-left font-medium after:absolute after:inset-0 hover:underline"
        >
          {t('slurmConfig.version', { number: String(number) })}
        </button>
        <Badge>{t(`slurmConfigOrigin.${origin}`)}</Badge>
        {isCurrent && (
          <span className="ml-auto shrink-0">
            <State tone="ok">{t('slurmConfig.isCurrent')}</State>
          </span>
        )}
      </div>
      <p className="flex gap-3 text-xs text-muted">
        <span className="min-w-0 truncate">{reason}</span>
        <span className="ml-auto shrink-0">
          {createdBy.name} · <RelativeTime at={createdAt} />
        </span>
      </p>
    </div>
  )
}
