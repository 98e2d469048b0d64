'use client'
import { Play } from 'lucide-react'
import { useConnection } from '@/graphql/use-connection.ts'
import { useLive } from '@/graphql/use-live.ts'
import { t } from '@/messages/index.ts'
import { RunsUpdated } from '@/runs/documents.ts'
import { RunLine } from '@/runs/run-line.tsx'
import { Button, ButtonLink } from '@/ui/button.tsx'
import { Empty } from '@/ui/empty.tsx'
import { Failure } from '@/ui/failure.tsx'
import { useNarrow } from '@/ui/hooks/use-narrow.ts'
import { SkeletonRows } from '@/ui/skeleton.tsx'
import { NodeRunsQuery } from './node-documents.ts'

/** Runs on this node, newest first. */
export function RunsTab({ id }: { id: string }) {
  const isNarrow = useNarrow()
  const list = useConnection('node runs', NodeRunsQuery, { id }, (data) =>
    data.node?.__typename === 'ComputeNode' ? data.node.runs : { edges: [], pageInfo: { hasNextPage: false, endCursor: null } },
  )
  useLive(RunsUpdated, {}, ({ jobRunUpdated }) => void list.patch(jobRunUpdated))
  if (list.problem && list.rows.length === 0)
    return <Failure title={t('runs.loadFailed')} message={list.problem.message} onRetry={() => void list.reload()} />
  if (list.isLoading)
    return (
      <div className="rounded-lg border border-line bg-panel">
        <SkeletonRows rows={5} height={40} />
      </div>
    )
  if (list.rows.length === 0) {
    return (
      <Empty
        icon={<Play aria-hidden />}
        title={t('runs.emptyTitle')}
        action={
          <ButtonLink variant="primary" href={`/runs/new?nodes=${encodeURIComponent(id)}`}>
            {t('node.run')}
          </ButtonLink>
        }
      >
        <p>{t('node.noRuns')}</p>
      </Empty>
    )
  }
  return (
    <div className="flex flex-col gap-3">
      <ul className="rounded-lg border border-line bg-panel">
        {list.rows.map((run) => (
          <li key={run.id} className="h-[68px] md:h-10">
            <RunLine run={run} isNarrow={isNarrow} />
          </li>
        ))}
      </ul>
      {list.hasMore && (
        <Button className="self-center" onClick={list.more}>
          {t('common.loadMore')}
        </Button>
      )}
    </div>
  )
}
