'use client'
import { SearchX } from 'lucide-react'
import Link from 'next/link'
import { useParams } from 'next/navigation'
import { useQuery } from 'urql'
import { useLive } from '@/graphql/use-live.ts'
import { toProblem, useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { CancelPowerRun } from '@/power/documents.ts'
import { type PowerResult, PowerRunHeadUpdated, PowerRunQuery, type PowerRunRow } from '@/power/runs/documents.ts'
import { RetryButton } from '@/power/runs/retry-button.tsx'
import { PowerRunItems } from '@/power/runs/run-items.tsx'
import { PowerRunState, powerActionName, progressText } from '@/power/runs/run-line.tsx'
import { Badge } from '@/ui/badge.tsx'
import { Button, ButtonLink } from '@/ui/button.tsx'
import { Empty } from '@/ui/empty.tsx'
import { Failure } from '@/ui/failure.tsx'
import { FilterSelect } from '@/ui/filter-select.tsx'
import { useQueryState } from '@/ui/hooks/use-query-state.ts'
import { useTitle } from '@/ui/hooks/use-title.ts'
import { Notice } from '@/ui/notice.tsx'
import { PageHead } from '@/ui/page.tsx'
import { Elapsed, RelativeTime } from '@/ui/relative-time.tsx'
import { Skeleton } from '@/ui/skeleton.tsx'

/** One power run: status, pace and the result of each node, live. */
export default function PowerRunPage() {
  const id = decodeURIComponent(useParams<{ id: string }>().id)
  const [{ data, error }, reload] = useQuery({ query: PowerRunQuery, variables: { id }, requestPolicy: 'cache-and-network' })
  const run = data?.powerRun
  useTitle(run ? powerActionName(run) : t('powerRun.title'))
  useLive(PowerRunHeadUpdated, run && !run.finishedAt ? { id } : null)
  if (run) return <Run run={run} />
  if (error)
    return (
      <Failure
        title={t('powerRun.loadFailed')}
        message={toProblem(error).message}
        onRetry={() => reload({ requestPolicy: 'network-only' })}
      />
    )
  if (data)
    return (
      <Empty
        icon={<SearchX aria-hidden />}
        title={t('powerRun.goneTitle')}
        action={<ButtonLink href="/power">{t('powerRun.title')}</ButtonLink>}
      />
    )
  return <Skeleton className="h-48 w-full" />
}

function Run({ run }: { run: PowerRunRow }) {
  const query = useQueryState()
  const cancel = useMutation(CancelPowerRun)
  const results = run.results.map(({ result }) => result)
  const shown = results.find((each) => each === query.get('result')) as PowerResult | undefined
  return (
    <>
      <PageHead
        above={
          <Link href="/power" className="hover:underline">
            {t('powerRun.title')}
          </Link>
        }
        title={powerActionName(run)}
        below={
          <div className="flex flex-col gap-2 text-sm">
            <div className="flex flex-wrap items-center gap-x-4 gap-y-1" aria-live="polite">
              <PowerRunState run={run} />
              <span className="text-muted tabular-nums">{progressText(run)}</span>
              {run.startedAt && (
                <span className="text-muted">
                  <Elapsed from={run.startedAt} to={run.finishedAt} />
                </span>
              )}
              <span className="text-muted">
                {run.createdBy.name} · <RelativeTime at={run.createdAt} />
              </span>
              <span className="text-muted">
                {t('powerRun.pace', { parallelism: String(run.parallelism), seconds: String(run.delaySeconds) })}
              </span>
              {run.isForced && <Badge tone="warn">{t('powerRun.forced')}</Badge>}
              {run.canceledBy && <span className="text-muted">{t('power.canceledBy', { name: run.canceledBy })}</span>}
            </div>
            <p className="break-words">{run.reason}</p>
            {cancel.problem && <Notice tone="bad">{cancel.problem.message}</Notice>}
          </div>
        }
      >
        {results.length > 1 && (
          <FilterSelect label={t('powerRun.result')} value={shown ?? ''} onChange={(value) => query.set({ result: value })}>
            <option value="">{t('powerRun.anyResult')}</option>
            {run.results.map(({ result, count }) => (
              <option key={result} value={result}>
                {`${t(`powerResult.${result}`)} (${count})`}
              </option>
            ))}
          </FilterSelect>
        )}
        <RetryButton run={run} />
        {!run.finishedAt && (
          <Button busy={cancel.busy || run.status === 'CANCELING'} onClick={() => void cancel.run({ id: run.id })}>
            {t('power.cancelRun')}
          </Button>
        )}
      </PageHead>
      <PowerRunItems run={run} result={shown ? [shown] : null} />
    </>
  )
}
