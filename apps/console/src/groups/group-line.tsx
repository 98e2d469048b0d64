import clsx from 'clsx'
import Link from 'next/link'
import { formatNumber, t } from '@/messages/index.ts'
import { Badge } from '@/ui/badge.tsx'
import { type GroupRow, groupHref } from './documents.ts'

export const columns =
  'grid grid-cols-[minmax(160px,1.4fr)_96px_80px_72px_minmax(140px,2fr)] lg:grid-cols-[minmax(160px,1.4fr)_96px_80px_72px_minmax(100px,0.8fr)_minmax(100px,0.8fr)_minmax(140px,2fr)] items-center gap-x-4 px-4'

/** One group of the list: a row on a wide screen, a card on a phone. All of it links to the group. */
export function GroupLine({ group, isNarrow }: { group: GroupRow; isNarrow: boolean }) {
  const { id, name, displayName, kind, priority, memberQuery, exclusiveSet, nodeCount, parent } = group
  const link = (
    <span className="flex min-w-0 items-baseline gap-2">
      <Link href={groupHref(id)} className="truncate font-mono text-sm font-medium after:absolute after:inset-0 hover:underline">
        {name}
      </Link>
      {displayName && <span className="truncate text-xs text-muted">{displayName}</span>}
    </span>
  )
  const members =
    memberQuery === null ? (
      <span className="text-muted">{t('group.byList')}</span>
    ) : (
      <code className="truncate text-xs text-muted" title={memberQuery}>
        {memberQuery}
      </code>
    )
  if (isNarrow)
    return (
      <div className="relative flex h-full flex-col justify-center gap-1.5 border-b border-line px-4 py-2 text-sm">
        <div className="flex items-center justify-between gap-2">
          {link}
          <span className="shrink-0 text-muted tabular-nums">{t('group.nodes', { count: nodeCount })}</span>
        </div>
        <div className="flex min-w-0 items-center gap-2">
          <Badge>{t(`groupKind.${kind}`)}</Badge>
          {exclusiveSet && <Badge tone="accent">{exclusiveSet}</Badge>}
          <span className="flex min-w-0 flex-1 text-xs">{members}</span>
        </div>
      </div>
    )
  return (
    <div className={clsx(columns, 'relative h-full border-b border-line text-sm hover:bg-hover')}>
      {link}
      <span className="text-muted">{t(`groupKind.${kind}`)}</span>
      <span className="text-right tabular-nums">{formatNumber(nodeCount)}</span>
      <span className="text-right text-muted tabular-nums">{formatNumber(priority)}</span>
      <span className="hidden truncate text-muted lg:block">{parent?.name ?? t('common.none')}</span>
      <span className="hidden truncate lg:block">
        {exclusiveSet ? <Badge tone="accent">{exclusiveSet}</Badge> : <span className="text-faint">{t('common.none')}</span>}
      </span>
      <span className="flex min-w-0">{members}</span>
    </div>
  )
}
