'use client'
import { useVirtualizer } from '@tanstack/react-virtual'
import clsx from 'clsx'
import { useMemo, useRef, useState, useSyncExternalStore } from 'react'
import { useQuery } from 'urql'
import { formatDuration, formatTimeOfDay } from '@/messages/format.ts'
import { t } from '@/messages/index.ts'
import type { LogStore, TaskEvent } from '@/runs/log/log-store.ts'
import { Badge, type Tone } from '@/ui/badge.tsx'
import { CopyButton } from '@/ui/copy-button.tsx'
import { Dialog } from '@/ui/dialog.tsx'
import { useNarrow } from '@/ui/hooks/use-narrow.ts'
import { Notice } from '@/ui/notice.tsx'
import { Skeleton } from '@/ui/skeleton.tsx'
import { RunEventQuery } from './documents.ts'

/** The last word of an event's kind is the outcome: runner_on_failed, host_failed and failed mean "failed". */
function outcome(event: TaskEvent): string {
  const word = event.kind.toLowerCase().split(/[_.]/).at(-1) ?? event.kind
  return word === 'ok' && event.isChanged ? 'changed' : word
}
const tones: Record<string, Tone> = { ok: 'ok', changed: 'warn', failed: 'bad', unreachable: 'bad', skipped: 'neutral' }

function ResultDialog({ runId, event, onClose }: { runId: string; event: TaskEvent; onClose: () => void }) {
  const [{ data, error, fetching }] = useQuery({ query: RunEventQuery, variables: { id: runId, after: String(event.seq - 1) } })
  const found =
    data?.node?.__typename === 'JobRun' ? data.node.events.edges.find(({ node }) => node.seq === event.seq)?.node : undefined
  const text = found ? JSON.stringify(found.result, null, 2) : ''
  return (
    <Dialog
      wide
      title={`${event.host} · ${event.task}`}
      onClose={onClose}
      footer={text ? <CopyButton quiet={false} label={t('common.copy')} text={text} /> : undefined}
    >
      {error ? (
        <Notice tone="bad">{error.message}</Notice>
      ) : fetching && !found ? (
        <Skeleton className="h-40 w-full" />
      ) : found?.result == null ? (
        <p className="text-sm text-muted">{t('events.noResult')}</p>
      ) : (
        <pre className="overflow-auto rounded-md bg-sunken p-3 font-mono text-xs leading-5">{text}</pre>
      )}
    </Dialog>
  )
}

const columns =
  'grid grid-cols-[72px_110px_minmax(100px,0.8fr)_minmax(160px,2fr)_minmax(120px,1fr)_80px] items-center gap-x-3 px-4'

/** Task results with Ansible's JSON on demand. */
export function TaskEvents({
  runId,
  store,
  host,
  onHost,
}: {
  runId: string
  store: LogStore
  host: string | null
  onHost: (host: string | null) => void
}) {
  const version = useSyncExternalStore(store.subscribe, store.snapshot, store.snapshot)
  const isNarrow = useNarrow()
  const [only, setOnly] = useState('')
  const [open, setOpen] = useState<TaskEvent | null>(null)
  const box = useRef<HTMLDivElement>(null)
  // biome-ignore lint/correctness/useExhaustiveDependencies: the version changes with the events
  const rows = useMemo(
    () =>
      store.tasks.filter(
        (event) => outcome(event) in tones && (!host || event.host === host) && (!only || outcome(event) === only),
      ),
    [store, version, host, only],
  )
  const rowHeight = isNarrow ? 56 : 34
  const virtualizer = useVirtualizer({
    count: rows.length,
    getScrollElement: () => box.current,
    estimateSize: () => rowHeight,
    overscan: 15,
  })
  const select = 'h-8 max-w-44 rounded-md border border-line-strong bg-panel px-2 text-sm'
  return (
    <div className="rounded-lg border border-line bg-panel">
      <div className="flex flex-wrap items-center gap-2 border-b border-line px-2 py-1.5">
        <select
          aria-label={t('events.outcome')}
          className={select}
          value={only}
          onChange={(event) => setOnly(event.target.value)}
        >
          <option value="">{t('events.anyOutcome')}</option>
          {Object.keys(tones).map((word) => (
            <option key={word} value={word}>
              {t(`outcome.${word as 'ok'}`)}
            </option>
          ))}
        </select>
        <select
          aria-label={t('log.host')}
          className={select}
          value={host ?? ''}
          onChange={(event) => onHost(event.target.value || null)}
        >
          <option value="">{t('log.allHosts')}</option>
          {[...store.hosts].sort().map((each) => (
            <option key={each}>{each}</option>
          ))}
        </select>
        <span className="ml-auto px-2 text-xs text-muted tabular-nums">{t('events.count', { count: rows.length })}</span>
      </div>
      {rows.length === 0 ? (
        <p className="p-10 text-center text-sm text-muted">{t('events.none')}</p>
      ) : (
        <section
          ref={box}
          // biome-ignore lint/a11y/noNoninteractiveTabindex: a scrolling region must be reachable for the keyboard to scroll it
          tabIndex={0}
          aria-label={t('events.title')}
          className="h-[calc(100dvh-340px)] min-h-72 overflow-auto"
        >
          <div className="relative" style={{ height: virtualizer.getTotalSize() }}>
            {virtualizer.getVirtualItems().map((item) => {
              const event = rows[item.index]
              if (!event) return null
              const word = outcome(event)
              const badge = <Badge tone={tones[word]}>{t(`outcome.${word as 'ok'}`)}</Badge>
              return (
                <button
                  key={event.seq}
                  type="button"
                  onClick={() => setOpen(event)}
                  className={clsx(
                    'absolute inset-x-0 top-0 border-b border-line text-left text-sm hover:bg-hover',
                    isNarrow ? 'flex flex-col justify-center gap-1 px-3' : columns,
                  )}
                  style={{ height: rowHeight, transform: `translateY(${item.start}px)` }}
                >
                  {isNarrow ? (
                    <>
                      <span className="flex w-full items-center justify-between gap-2">
                        <span className="truncate">{event.task}</span>
                        {badge}
                      </span>
                      <span className="font-mono text-xs text-muted">{event.host}</span>
                    </>
                  ) : (
                    <>
                      <span className="text-xs text-faint tabular-nums">{formatTimeOfDay(event.createdAt)}</span>
                      <span>{badge}</span>
                      <span className="truncate font-mono text-xs">{event.host}</span>
                      <span className="truncate">{event.task}</span>
                      <span className="truncate font-mono text-xs text-muted">{event.action}</span>
                      <span className="text-right text-xs text-muted tabular-nums">
                        {event.durationMs === null ? '' : formatDuration(event.durationMs)}
                      </span>
                    </>
                  )}
                </button>
              )
            })}
          </div>
        </section>
      )}
      {open && <ResultDialog runId={runId} event={open} onClose={() => setOpen(null)} />}
    </div>
  )
}
