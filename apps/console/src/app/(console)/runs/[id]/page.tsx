'use client'
import { useParams } from 'next/navigation'
import { useState } from 'react'
import { type CombinedError, useQuery } from 'urql'
import { Artifacts } from '@/artifacts/artifacts.tsx'
import { useLive, useReconnect } from '@/graphql/use-live.ts'
import { formatDateTime, formatDuration } from '@/messages/format.ts'
import { t } from '@/messages/index.ts'
import { isUnfinished } from '@/runs/badges.tsx'
import { Batches } from '@/runs/batches.tsx'
import { type RunHead, RunNumberQuery, RunQuery, RunUpdated } from '@/runs/documents.ts'
import { HostResults } from '@/runs/host-results.tsx'
import { LogPanel } from '@/runs/log/log-panel.tsx'
import { useRunLog } from '@/runs/log/use-run-log.ts'
import { RunHeader } from '@/runs/run-head.tsx'
import { TaskEvents } from '@/runs/task-events.tsx'
import { ButtonLink } from '@/ui/button.tsx'
import { Empty } from '@/ui/empty.tsx'
import { Failure } from '@/ui/failure.tsx'
import { useQueryState } from '@/ui/hooks/use-query-state.ts'
import { useTitle } from '@/ui/hooks/use-title.ts'
import { Panel, PropertyList } from '@/ui/page.tsx'
import { Skeleton } from '@/ui/skeleton.tsx'
import { Tabs } from '@/ui/tabs.tsx'

const tabs = ['log', 'hosts', 'events', 'artifacts', 'details'] as const
type Tab = (typeof tabs)[number]

function Details({ run }: { run: RunHead }) {
  const percent = (value: number) => t('unit.percent', { value })
  const when = (at: string | null) => (at ? formatDateTime(at) : t('common.none'))
  return (
    <div className="grid gap-4 lg:grid-cols-2">
      <Panel title={t('run.how')}>
        <PropertyList
          rows={[
            [
              t('run.playbook'),
              <code key="p" className="font-mono text-xs">
                {run.playbookPath}
              </code>,
            ],
            [
              t('runs.limit'),
              run.limit ? (
                <code key="l" className="font-mono text-xs">
                  {run.limit}
                </code>
              ) : (
                t('runs.chosenNodes', { count: run.hostCounts.total })
              ),
            ],
            [
              t('run.become'),
              run.become ? t('run.becomes', { user: run.becomeUser, method: run.becomeMethod.toLowerCase() }) : t('common.no'),
            ],
            [t('runs.forks'), run.forks],
            [t('runs.timeout'), formatDuration(run.timeoutSeconds * 1000)],
            [t('runs.checkMode'), run.checkMode ? t('common.yes') : t('common.no')],
            [t('runs.diffMode'), run.diffMode ? t('common.yes') : t('common.no')],
            [t('runs.verbosity'), run.verbosity],
            [t('runs.serial'), run.serial ?? t('common.none')],
            [t('runs.maxFail'), run.maxFailPercentage === null ? t('common.none') : percent(run.maxFailPercentage)],
            [t('runs.jobTags'), run.jobTags.join(', ') || t('common.none')],
            [t('runs.skipTags'), run.skipTags.join(', ') || t('common.none')],
          ]}
        />
      </Panel>
      <Panel title={t('run.timeline')}>
        <PropertyList
          rows={[
            [t('run.created'), when(run.createdAt)],
            [t('run.started'), when(run.startedAt)],
            [t('run.finished'), when(run.finishedAt)],
            [t('run.exitCode'), run.exitCode ?? t('common.none')],
            [t('run.canceledBy'), run.cancelRequestedBy?.name ?? t('common.none')],
            [t('run.lines'), t('log.lines', { count: run.lineCount })],
          ]}
        />
      </Panel>
      <Panel title={t('runs.extraVars')}>
        <pre className="overflow-auto font-mono text-xs leading-5">{JSON.stringify(run.extraVars ?? {}, null, 2)}</pre>
      </Panel>
    </div>
  )
}

function Loaded({ run }: { run: RunHead }) {
  const query = useQueryState()
  const requested = query.get('tab') as Tab
  const tab = tabs.includes(requested) ? requested : 'log'
  const host = query.get('host') || null
  const log = useRunLog(run.id)
  const [wasFinished] = useState(!isUnfinished(run.status))
  const setHost = (next: string | null) => query.set({ host: next })
  return (
    <>
      <RunHeader run={run} />
      {run.slurm && <Batches run={run} slurm={run.slurm} />}
      <Tabs
        label={t('run.views')}
        value={tab}
        onChange={(next) => query.set({ tab: next === 'log' ? null : next })}
        tabs={[
          { key: 'log', label: t('run.tabLog') },
          { key: 'hosts', label: t('run.tabHosts'), count: run.hostCounts.total },
          { key: 'events', label: t('run.tabEvents') },
          { key: 'artifacts', label: t('run.tabArtifacts') },
          { key: 'details', label: t('run.tabDetails') },
        ]}
      >
        {tab === 'log' && (
          <LogPanel
            runId={run.id}
            blockedReason={run.logBlockedReason}
            store={log.store}
            isComplete={log.isComplete}
            error={log.error}
            host={host}
            onHost={setHost}
            isFinished={wasFinished}
          />
        )}
        {tab === 'hosts' && <HostResults run={run} onShow={(name) => query.set({ tab: null, host: name })} />}
        {tab === 'events' && <TaskEvents runId={run.id} store={log.store} host={host} onHost={setHost} />}
        {tab === 'artifacts' && <Artifacts run={run} />}
        {tab === 'details' && <Details run={run} />}
      </Tabs>
    </>
  )
}

/** The page of a run. */
export default function RunPage() {
  const param = decodeURIComponent(String(useParams().id))
  return /^\d{1,9}$/.test(param) ? <NumberedRun number={Number(param)} /> : <RunById id={param} />
}

function NumberedRun({ number }: { number: number }) {
  const [{ data, error }, refetch] = useQuery({ query: RunNumberQuery, variables: { number } })
  if (data?.jobRun) return <RunById id={data.jobRun.id} />
  if (error) return <LoadFailed error={error} onRetry={() => refetch({ requestPolicy: 'network-only' })} />
  return data ? <NotFound /> : <Loading />
}

function RunById({ id }: { id: string }) {
  const [{ data, error }, refetch] = useQuery({ query: RunQuery, variables: { id }, requestPolicy: 'cache-and-network' })
  const retry = () => refetch({ requestPolicy: 'network-only' })
  useLive(RunUpdated, { id })
  useReconnect(retry)
  const run = data?.node?.__typename === 'JobRun' ? data.node : null
  useTitle(run?.template.displayName)
  if (run) return <Loaded run={run} />
  if (error) return <LoadFailed error={error} onRetry={retry} />
  return data ? <NotFound /> : <Loading />
}

function LoadFailed({ error, onRetry }: { error: CombinedError; onRetry: () => void }) {
  const message = error.graphQLErrors[0]?.message ?? t('error.network')
  return <Failure title={t('run.loadFailed')} message={message} onRetry={onRetry} />
}

function NotFound() {
  return (
    <Empty title={t('run.notFound')} action={<ButtonLink href="/runs">{t('run.toList')}</ButtonLink>}>
      <p>{t('run.notFoundText')}</p>
    </Empty>
  )
}

function Loading() {
  return (
    <div className="flex flex-col gap-4">
      <Skeleton className="h-7 w-64" />
      <Skeleton className="h-4 w-96 max-w-full" />
      <Skeleton className="h-9 w-full" />
      <Skeleton className="h-[60dvh] w-full" />
    </div>
  )
}
