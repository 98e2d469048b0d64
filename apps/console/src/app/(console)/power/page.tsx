'use client'
import { Power, Radar, SearchX } from 'lucide-react'
import { useMemo } from 'react'
import { useConnection } from '@/graphql/use-connection.ts'
import { formatNumber, t } from '@/messages/index.ts'
import { statusTones } from '@/power/power-badges.tsx'
import { type PowerRunFilter, type PowerRunRow, PowerRunsQuery } from '@/power/runs/documents.ts'
import { PowerRunLine, powerRunColumns } from '@/power/runs/run-line.tsx'
import { usePolling } from '@/system/use-polling.ts'
import { ButtonLink } from '@/ui/button.tsx'
import { Empty } from '@/ui/empty.tsx'
import { Failure } from '@/ui/failure.tsx'
import { FilterSelect } from '@/ui/filter-select.tsx'
import { useNarrow } from '@/ui/hooks/use-narrow.ts'
import { useQueryState } from '@/ui/hooks/use-query-state.ts'
import { useTitle } from '@/ui/hooks/use-title.ts'
import { PageHead } from '@/ui/page.tsx'
import { SkeletonRows } from '@/ui/skeleton.tsx'
import { VirtualList } from '@/ui/virtual-list.tsx'

const POLL_MS = 5000
const statuses = Object.keys(statusTones) as PowerRunRow['status'][]
const heads = ['status', 'action', 'nodes', 'results', 'reason', 'by'] as const

/** All power runs of the tenant, newest first. */
export default function PowerRunsPage() {
  useTitle(t('powerRun.title'))
  const query = useQueryState()
  const isNarrow = useNarrow()
  const status = statuses.find((each) => each === query.get('status'))
  const filter = useMemo((): PowerRunFilter => (status ? { status: [status] } : {}), [status])
  const list = useConnection('power-runs', PowerRunsQuery, { filter }, (data) => data.powerRuns)
  usePolling(true, () => void list.reload(), POLL_MS)
  const hasNothing = !list.isLoading && !list.problem && list.rows.length === 0
  return (
    <>
      <PageHead title={t('powerRun.title')} count={list.total === null ? undefined : formatNumber(list.total)}>
        {(status || !hasNothing) && (
          <FilterSelect label={t('powerRun.status')} value={status ?? ''} onChange={(value) => query.set({ status: value })}>
            <option value="">{t('powerRun.anyStatus')}</option>
            {statuses.map((each) => (
              <option key={each} value={each}>
                {t(`powerRunStatus.${each}`)}
              </option>
            ))}
          </FilterSelect>
        )}
        <ButtonLink href="/power/discoveries" icon={<Radar aria-hidden />}>
          {t('bmcDiscovery.title')}
        </ButtonLink>
      </PageHead>
      {list.problem && list.rows.length === 0 ? (
        <Failure title={t('powerRun.listFailed')} message={list.problem.message} onRetry={() => void list.reload()} />
      ) : hasNothing && !status ? (
        <Empty
          icon={<Power aria-hidden />}
          title={t('powerRun.emptyTitle')}
          action={<ButtonLink href="/nodes">{t('nav.nodes')}</ButtonLink>}
        >
          <p>{t('powerRun.emptyText')}</p>
        </Empty>
      ) : hasNothing ? (
        <Empty
          icon={<SearchX aria-hidden />}
          title={t('powerRun.noMatchTitle')}
          action={<ButtonLink href="/power">{t('filter.clearAll')}</ButtonLink>}
        />
      ) : (
        <div className="rounded-lg border border-line bg-panel">
          {!isNarrow && (
            <div
              className={`${powerRunColumns} sticky top-0 z-10 h-9 rounded-t-lg border-b border-line bg-panel text-xs font-medium text-muted`}
            >
              {heads.map((head) => (
                <span key={head}>{t(`powerRun.${head}`)}</span>
              ))}
              <span className="text-right">{t('powerRun.started')}</span>
            </div>
          )}
          {list.isLoading ? (
            <SkeletonRows rows={8} height={44} />
          ) : (
            <VirtualList
              label={t('powerRun.title')}
              rows={list.rows}
              rowHeight={isNarrow ? 64 : 44}
              hasMore={list.hasMore}
              onNearEnd={list.more}
              renderRow={(run) => <PowerRunLine run={run} isNarrow={isNarrow} />}
            />
          )}
        </div>
      )}
    </>
  )
}
