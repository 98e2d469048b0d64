'use client'
import { ChevronDown, History, Search, SearchX } from 'lucide-react'
import { type FormEvent, useEffect, useMemo, useState } from 'react'
import { useMutation } from '@/graphql/use-mutation.ts'
import { formatDateTime } from '@/messages/format.ts'
import { t } from '@/messages/index.ts'
import { WordSelect } from '@/slurm/nodes/node-filters.tsx'
import { Button } from '@/ui/button.tsx'
import { Empty } from '@/ui/empty.tsx'
import { Failure } from '@/ui/failure.tsx'
import { FilterSelect } from '@/ui/filter-select.tsx'
import { useNarrow } from '@/ui/hooks/use-narrow.ts'
import type { useQueryState } from '@/ui/hooks/use-query-state.ts'
import { SkeletonRows } from '@/ui/skeleton.tsx'
import { VirtualList } from '@/ui/virtual-list.tsx'
import { type JobRecord, type JobsInput, LookUpJobs } from './documents.ts'
import { FinishedJobLine, finishedJobColumns } from './finished-job-line.tsx'
import { NoAccounting } from './no-accounting.tsx'
import { useLookup } from './use-lookup.ts'

type Query = ReturnType<typeof useQueryState>
type Filter = Omit<JobsInput, 'clusterId' | 'after' | 'since'>

/** Slurm's words for how jobs end. */
const STATES = [
  ...['BOOT_FAIL', 'CANCELLED', 'COMPLETED', 'DEADLINE', 'FAILED', 'NODE_FAIL', 'OUT_OF_MEMORY', 'PREEMPTED', 'TIMEOUT'],
]
const DAYS = ['1', '7', '30', '365'] as const
const DAY_MS = 86_400_000
const TEXTS = ['user', 'account', 'node'] as const

/** URL keys of the filters. */
export const FINISHED_JOB_FILTERS = { user: null, account: null, node: null, days: null }

const words = (text: string) => text.split(/[\s,]+/).filter(Boolean)

/** Finished jobs, read from the accounting of the cluster. */
export function FinishedJobsTab({
  clusterId,
  query,
  partitions,
}: {
  clusterId: string
  query: Query
  partitions: readonly string[]
}) {
  const days = DAYS.find((one) => one === query.get('days')) ?? '7'
  const filter = useMemo<Filter>(
    () => ({
      ...(query.get('user') && { user: words(query.get('user')) }),
      ...(query.get('account') && { account: words(query.get('account')) }),
      ...(query.get('node') && { node: query.get('node') }),
      ...(query.get('state') && { state: [query.get('state')] }),
      ...(query.get('partition') && { partition: [query.get('partition')] }),
    }),
    [query],
  )
  return (
    <div className="flex flex-col gap-3">
      <div className="flex flex-wrap gap-2">
        <TextFilters query={query} />
        <WordSelect query={query} name="state" label={t('slurm.anyState')} words={STATES} />
        <WordSelect query={query} name="partition" label={t('slurm.anyPartition')} words={partitions} />
        <FilterSelect label={t('slurmHistory.period')} value={days} onChange={(value) => query.set({ days: value })}>
          {DAYS.map((count) => (
            <option key={count} value={count}>
              {t('slurmHistory.lastDays', { count: Number(count) })}
            </option>
          ))}
        </FilterSelect>
      </div>
      <FinishedJobs key={JSON.stringify([filter, days])} clusterId={clusterId} filter={filter} days={Number(days)} />
    </div>
  )
}

/** Each search runs a command on the cluster, so it starts on submit, not on each key press. */
function TextFilters({ query }: { query: Query }) {
  const [texts, setTexts] = useState(() => Object.fromEntries(TEXTS.map((name) => [name, query.get(name)])))
  const submit = (event: FormEvent) => {
    event.preventDefault()
    query.set(texts)
  }
  const labels = { user: t('slurmJob.user'), account: t('slurmJob.account'), node: t('slurmHistory.node') }
  return (
    <form onSubmit={submit} className="flex min-w-0 flex-wrap gap-2">
      {TEXTS.map((name) => (
        <input
          key={name}
          aria-label={labels[name]}
          placeholder={labels[name]}
          value={texts[name]}
          onChange={(event) => setTexts({ ...texts, [name]: event.target.value })}
          className="h-8 w-32 rounded-md border border-line-strong bg-panel px-2.5 text-sm placeholder:text-faint"
        />
      ))}
      <Button type="submit" icon={<Search aria-hidden />}>
        {t('slurmHistory.search')}
      </Button>
    </form>
  )
}

function FinishedJobs({ clusterId, filter, days }: { clusterId: string; filter: Filter; days: number }) {
  const isNarrow = useNarrow()
  const { run } = useMutation(LookUpJobs)
  const [since] = useState(() => new Date(Date.now() - days * DAY_MS).toISOString())
  const [after, setAfter] = useState<string | null>(null)
  const [pages, setPages] = useState<{ after: string | null; jobs: readonly JobRecord[] }[]>([])
  const lookup = useLookup(after ?? 'first', () => run({ input: { clusterId, ...filter, since, after } }))
  const { result, error, isUnrecorded, isRunning, retry } = lookup
  useEffect(() => {
    if (result) setPages((known) => [...known.filter((page) => page.after !== after), { after, jobs: result.jobs }])
  }, [result, after])
  const rows = useMemo(
    () => pages.flatMap(({ jobs }) => jobs).map((job) => ({ ...job, id: `${job.jobId} ${job.endAt}` })),
    [pages],
  )
  if (rows.length === 0) {
    if (error !== null && isUnrecorded) return <NoAccounting clusterId={clusterId} message={error} />
    if (error !== null) return <Failure title={t('slurmHistory.loadFailed')} message={error} onRetry={retry} />
    if (isRunning)
      return (
        <div className="flex flex-col gap-2">
          <p className="text-sm text-muted" aria-live="polite">
            {t('slurmHistory.searching')}
          </p>
          <SkeletonRows rows={8} height={isNarrow ? 68 : 44} />
        </div>
      )
  }
  const more = result?.endCursor ?? null
  const next = (
    <div className="flex flex-wrap items-center gap-3 text-sm text-muted" aria-live="polite">
      {isRunning ? (
        <span>{t('slurmHistory.searching')}</span>
      ) : error !== null ? (
        <>
          <span className="text-bad">{error}</span>
          <Button onClick={retry}>{t('common.retry')}</Button>
        </>
      ) : (
        <>
          {result?.searchedSince && (
            <span>{t('slurmHistory.searchedSince', { time: formatDateTime(result.searchedSince) })}</span>
          )}
          {more && (
            <Button icon={<ChevronDown aria-hidden />} onClick={() => setAfter(more)}>
              {t('common.loadMore')}
            </Button>
          )}
        </>
      )}
    </div>
  )
  if (rows.length === 0)
    return (
      <Empty
        icon={more ? <History aria-hidden /> : <SearchX aria-hidden />}
        title={more ? t('slurmHistory.notYetTitle') : t('slurmHistory.emptyTitle')}
        action={next}
      >
        <p>{more ? t('slurmHistory.notYetText') : t('slurmHistory.emptyText')}</p>
      </Empty>
    )
  return (
    <>
      <div className="rounded-lg border border-line bg-panel">
        {!isNarrow && (
          <div
            className={`${finishedJobColumns} sticky top-0 z-10 h-9 rounded-t-lg border-b border-line bg-panel text-xs font-medium text-muted`}
          >
            {[
              t('slurmJob.job'),
              t('slurmJob.name'),
              t('slurmJob.user'),
              t('slurmJob.partition'),
              t('slurmJob.state'),
              t('slurmJob.exit'),
              t('slurmJob.nodes'),
              t('slurmHistory.elapsed'),
              t('slurmJob.ended'),
            ].map((name) => (
              <span key={name}>{name}</span>
            ))}
          </div>
        )}
        <VirtualList
          label={t('slurmHistory.title')}
          rows={rows}
          rowHeight={isNarrow ? 68 : 44}
          renderRow={(job) => <FinishedJobLine job={job} clusterId={clusterId} isNarrow={isNarrow} />}
          onNearEnd={() => {}}
          hasMore={false}
        />
      </div>
      {next}
    </>
  )
}
