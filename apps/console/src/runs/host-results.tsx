'use client'
import { useVirtualizer } from '@tanstack/react-virtual'
import clsx from 'clsx'
import Link from 'next/link'
import { useCallback, useEffect, useRef, useState } from 'react'
import { type Client, useClient } from 'urql'
import type { ResultOf } from '@/graphql/graphql.ts'
import { useReconnect } from '@/graphql/use-live.ts'
import { t } from '@/messages/index.ts'
import { NodeHealth } from '@/nodes/badges.tsx'
import { nodeHref } from '@/nodes/node-line.tsx'
import { State } from '@/ui/badge.tsx'
import { useNarrow } from '@/ui/hooks/use-narrow.ts'
import { SkeletonRows } from '@/ui/skeleton.tsx'
import { hostTones } from './badges.tsx'
import { type RunHead, type RunHost, RunHostsQuery } from './documents.ts'

const worstFirst: Record<RunHost['result'], number> = {
  FAILED: 0,
  UNREACHABLE: 1,
  INTERRUPTED: 2,
  RUNNING: 3,
  CHANGED: 4,
  OK: 5,
  SKIPPED: 6,
  PENDING: 7,
  NOT_RUN: 8,
  OFFLINE: 9,
}

type HostPage = Extract<ResultOf<typeof RunHostsQuery>['node'], { __typename: 'JobRun' }>['hosts']

async function fetchHostPage(client: Client, id: string, after: string | null): Promise<HostPage | null> {
  const { data } = await client.query(RunHostsQuery, { id, after }, { requestPolicy: 'network-only' }).toPromise()
  return data?.node?.__typename === 'JobRun' ? data.node.hosts : null
}

/** All hosts of a run, page by page; null when a page cannot be read. */
async function fetchHosts(client: Client, id: string): Promise<RunHost[] | null> {
  const hosts: RunHost[] = []
  let after: string | null = null
  do {
    const page = await fetchHostPage(client, id, after)
    if (!page) return null
    hosts.push(...page.edges.map(({ node }) => node))
    after = page.pageInfo.hasNextPage ? page.pageInfo.endCursor : null
  } while (after)
  return hosts
}

/** A run's hosts, read again when the run changes, at most every 700 ms. */
function useHosts(run: RunHead): RunHost[] | null {
  const client = useClient()
  const [hosts, setHosts] = useState<RunHost[] | null>(null)
  const state = useRef({ isReading: false, isDue: false })
  const read = useCallback(async () => {
    if (state.current.isReading) {
      state.current.isDue = true
      return
    }
    state.current.isReading = true
    const found = await fetchHosts(client, run.id)
    if (found) setHosts(found)
    setTimeout(() => {
      state.current.isReading = false
      if (!state.current.isDue) return
      state.current.isDue = false
      void read()
    }, 700)
  }, [client, run.id])
  // biome-ignore lint/correctness/useExhaustiveDependencies: any change of the run may change its hosts
  useEffect(() => void read(), [read, run])
  useReconnect(read)
  return hosts
}

const columns = 'grid grid-cols-[minmax(190px,1fr)_130px_repeat(5,64px)_minmax(140px,2fr)] items-center gap-x-3 px-4'
const counts = ['ok', 'changed', 'failed', 'unreachable', 'skipped'] as const
const countColors = { ok: 'text-ok', changed: 'text-warn', failed: 'text-bad', unreachable: 'text-bad', skipped: 'text-muted' }

function HostRow({ host, isNarrow, onShow }: { host: RunHost; isNarrow: boolean; onShow: (host: string) => void }) {
  const text = host.message ?? host.currentTask
  const name = host.node ? (
    <span className="flex min-w-0 items-baseline gap-2">
      <Link href={nodeHref(host.node.id)} className="truncate font-mono text-sm hover:underline">
        {host.name}
      </Link>
      <NodeHealth health={host.node.health} />
    </span>
  ) : (
    <span className="truncate font-mono text-sm">{host.name}</span>
  )
  const state = (
    <State tone={hostTones[host.result]} busy={host.result === 'RUNNING'}>
      {t(`hostResult.${host.result}`)}
    </State>
  )
  const detail = (
    <button
      type="button"
      className="min-w-0 truncate text-left text-xs text-muted hover:text-text hover:underline"
      title={text ?? undefined}
      onClick={() => onShow(host.name)}
    >
      {text ?? t('runs.viewLog')}
    </button>
  )
  if (isNarrow) {
    return (
      <div className="flex h-full flex-col justify-center gap-1 border-b border-line px-3">
        <div className="flex items-center justify-between gap-2">
          {name}
          {state}
        </div>
        <div className="flex items-center justify-between gap-3">
          {detail}
          <span className="text-xs text-muted tabular-nums">
            {t('runs.shortCounts', { ok: host.ok, changed: host.changed, failed: host.failed + host.unreachable })}
          </span>
        </div>
      </div>
    )
  }
  return (
    <div className={clsx(columns, 'h-full border-b border-line hover:bg-hover')}>
      {name}
      {state}
      {counts.map((key) => (
        <span key={key} className={clsx('text-right text-sm tabular-nums', host[key] ? countColors[key] : 'text-faint')}>
          {host[key]}
        </span>
      ))}
      {detail}
    </div>
  )
}

/** Results by host, worst first, with live updates. A click on a message filters the log by its host. */
export function HostResults({ run, onShow }: { run: RunHead; onShow: (host: string) => void }) {
  const hosts = useHosts(run)
  const isNarrow = useNarrow()
  const box = useRef<HTMLDivElement>(null)
  const rows = hosts
    ? [...hosts].sort(
        (a, b) => worstFirst[a.result] - worstFirst[b.result] || a.name.localeCompare(b.name, 'en', { numeric: true }),
      )
    : []
  const rowHeight = isNarrow ? 60 : 36
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => rowHeight,
    overscan: 10,
  })
  if (!hosts) {
    return (
      <div className="rounded-lg border border-line bg-panel">
        <SkeletonRows rows={Math.min(10, run.hostCounts.total || 4)} height={rowHeight} />
      </div>
    )
  }
  if (rows.length === 0)
    return <p className="rounded-lg border border-line bg-panel p-6 text-center text-sm text-muted">{t('runs.noHosts')}</p>
  return (
    <div className="rounded-lg border border-line bg-panel">
      {!isNarrow && (
        <div className={clsx(columns, 'h-9 border-b border-line text-xs font-medium text-muted')}>
          <span>{t('runs.host')}</span>
          <span>{t('runs.result')}</span>
          {counts.map((key) => (
            <span key={key} className="text-right">
              {t(`runs.count.${key}`)}
            </span>
          ))}
          <span>{t('runs.taskOrMessage')}</span>
        </div>
      )}
      <section
        ref={box}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable for the keyboard to scroll it
        tabIndex={0}
        className="max-h-[calc(100dvh-320px)] min-h-40 overflow-auto"
        aria-label={t('runs.recap')}
      >
        <div className="relative" style={{ height: virtualizer.getTotalSize() }}>
          {virtualizer.getVirtualItems().map((item) => {
            const host = rows[item.index]
            return (
              host && (
                <div
                  key={host.name}
                  className="absolute inset-x-0 top-0"
                  style={{ height: rowHeight, transform: `translateY(${item.start}px)` }}
                >
                  <HostRow host={host} isNarrow={isNarrow} onShow={onShow} />
                </div>
              )
            )
          })}
        </div>
      </section>
    </div>
  )
}
