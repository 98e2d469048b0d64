'use client'
import { GitCompareArrows, Radar } from 'lucide-react'
import { useEffect, useState } from 'react'
import { useConnection } from '@/graphql/use-connection.ts'
import { formatDateTime, formatDuration } from '@/messages/format.ts'
import { t } from '@/messages/index.ts'
import type { DiscoveryRow } from '@/nodes/documents.ts'
import { NodeDiscoveriesQuery } from '@/nodes/node-documents.ts'
import { State, type Tone } from '@/ui/badge.tsx'
import { Button, ButtonLink } from '@/ui/button.tsx'
import { Dialog } from '@/ui/dialog.tsx'
import { Empty } from '@/ui/empty.tsx'
import { Failure } from '@/ui/failure.tsx'
import { SkeletonRows } from '@/ui/skeleton.tsx'
import { CompareDialog } from './compare-dialog.tsx'
import { DiffView } from './diff-view.tsx'
import { ToolReports } from './tool-reports.tsx'

const tones: Record<DiscoveryRow['status'], Tone> = { PENDING: 'neutral', RUNNING: 'accent', SUCCEEDED: 'ok', FAILED: 'bad' }

/** A node's discoveries, newest first, with comparison of two. */
export function DiscoveriesTab({
  id,
  name,
  latestId,
  action,
}: {
  id: string
  name: string
  latestId: string | undefined
  action: React.ReactNode
}) {
  const list = useConnection('discoveries', NodeDiscoveriesQuery, { id }, (data) =>
    data.node?.__typename === 'ComputeNode'
      ? data.node.discoveries
      : { edges: [], pageInfo: { hasNextPage: false, endCursor: null } },
  )
  const [picked, setPicked] = useState<string[]>([])
  const [isComparing, setComparing] = useState<'two' | 'other' | null>(null)
  const { reloadDebounced } = list
  // biome-ignore lint/correctness/useExhaustiveDependencies: a new latest discovery is a new row
  useEffect(() => reloadDebounced(), [reloadDebounced, latestId])
  if (list.problem && list.rows.length === 0)
    return <Failure title={t('discoveries.loadFailed')} message={list.problem.message} onRetry={() => void list.reload()} />
  if (list.isLoading)
    return (
      <div className="rounded-lg border border-line bg-panel">
        <SkeletonRows rows={5} height={56} />
      </div>
    )
  if (list.rows.length === 0) {
    return (
      <Empty icon={<Radar aria-hidden />} title={t('discoveries.emptyTitle')} action={action}>
        <p>{t('discoveries.emptyText')}</p>
      </Empty>
    )
  }
  // The list is newest first; a comparison goes from older to newer.
  const [after, before] = list.rows.filter((row) => picked.includes(row.id)).map((row) => row.id)
  const latestGood = list.rows.find((row) => row.status === 'SUCCEEDED')
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap items-center gap-x-3 gap-y-2">
        <Button
          icon={<GitCompareArrows aria-hidden />}
          blockedReason={picked.length === 2 ? null : t('diff.pickTwo')}
          onClick={() => setComparing('two')}
        >
          {t('diff.compare')}
        </Button>
        <Button blockedReason={latestGood ? null : t('discoveries.emptyTitle')} onClick={() => setComparing('other')}>
          {t('diff.withOther')}
        </Button>
        <ButtonLink href={`/schedules/new?${new URLSearchParams({ target: 'DISCOVERY', limit: name })}`}>
          {t('discoveries.schedule')}
        </ButtonLink>
        <span className="text-xs text-muted">{t('diff.picked', { count: picked.length })}</span>
      </div>
      <ul className="rounded-lg border border-line bg-panel">
        {list.rows.map((row) => (
          <li key={row.id} className="flex gap-3 border-b border-line px-4 py-2.5 last:border-0">
            <input
              type="checkbox"
              className="mt-0.5 size-4 shrink-0 accent-accent"
              aria-label={t('diff.pick', { when: formatDateTime(row.createdAt) })}
              disabled={row.status !== 'SUCCEEDED'}
              checked={picked.includes(row.id)}
              onChange={() =>
                setPicked((chosen) =>
                  chosen.includes(row.id) ? chosen.filter((each) => each !== row.id) : [...chosen.slice(-1), row.id],
                )
              }
            />
            <div className="flex min-w-0 flex-1 flex-col gap-1.5">
              <div className="flex flex-wrap items-center gap-x-4 gap-y-1 text-sm">
                <span className="tabular-nums">{formatDateTime(row.createdAt)}</span>
                <State tone={tones[row.status]} busy={row.status === 'RUNNING'}>
                  {t(`discoveryStatus.${row.status}`)}
                </State>
                <span className="text-muted">{t(`discoveryReason.${row.reason}`)}</span>
                {row.status === 'SUCCEEDED' && (
                  <span className="text-muted">{t('discoveries.found', { count: row.acceleratorCount })}</span>
                )}
                {row.durationMs !== null && <span className="text-muted tabular-nums">{formatDuration(row.durationMs)}</span>}
              </div>
              {row.error && <p className="text-sm text-bad">{row.error}</p>}
              {row.warnings.map((warning) => (
                <p key={warning} className="text-xs text-warn">
                  {warning}
                </p>
              ))}
              {row.status === 'SUCCEEDED' && <ToolReports discovery={row} />}
            </div>
          </li>
        ))}
      </ul>
      {list.hasMore && (
        <Button className="self-center" onClick={list.more}>
          {t('common.loadMore')}
        </Button>
      )}
      {isComparing === 'other' && latestGood && (
        <CompareDialog discoveryId={latestGood.id} nodeName={name} onClose={() => setComparing(null)} />
      )}
      {isComparing === 'two' && before && after && (
        <Dialog wide title={t('diff.title')} onClose={() => setComparing(null)}>
          <DiffView before={before} after={after} />
        </Dialog>
      )}
    </div>
  )
}
