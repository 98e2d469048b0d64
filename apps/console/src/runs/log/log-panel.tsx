'use client'
import clsx from 'clsx'
import { ChevronDown, ChevronUp, Download, Search, WrapText } from 'lucide-react'
import { useCallback, useEffect, useMemo, useRef, useState, useSyncExternalStore } from 'react'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { CopyButton } from '@/ui/copy-button.tsx'
import { Menu, MenuDownload, MenuItem } from '@/ui/menu.tsx'
import { plain } from './ansi.ts'
import type { LogStore } from './log-store.ts'
import { LogView, type LogViewHandle } from './log-view.tsx'
import { useSearch } from './use-search.ts'

const formats = ['text', 'ansi', 'ndjson', 'runner'] as const

/** The line number in the URL hash (#L123), or null. */
function lineInHash(): number | null {
  const match = /^#L(\d+)$/.exec(location.hash)
  return match ? Number(match[1]) : null
}

/** Line numbers of one host's output, extended as the store grows. */
function useHostLines(store: LogStore, version: number, host: string | null): number[] | null {
  const cache = useRef<{ host: string | null; store: LogStore; next: number; lines: number[] }>({
    host: null,
    store,
    next: 0,
    lines: [],
  })
  // biome-ignore lint/correctness/useExhaustiveDependencies: the version changes with the lines
  return useMemo(() => {
    if (host === null) return null
    if (cache.current.host !== host || cache.current.store !== store) cache.current = { host, store, next: 0, lines: [] }
    const cached = cache.current
    const before = cached.lines.length
    const added: number[] = []
    cached.next = store.walk(cached.next, (start, text, from) => {
      if (from === host) for (let line = start, end = start + text.split('\n').length; line < end; line++) added.push(line)
      return true
    })
    if (added.length > 0) cached.lines = before === 0 ? added : [...cached.lines, ...added]
    return cached.lines
  }, [store, version, host])
}

type Props = {
  runId: string
  /** Why the log is unavailable, such as an expired retention time. */
  blockedReason: string | null
  store: LogStore
  isComplete: boolean
  error: string | null
  host: string | null
  onHost: (host: string | null) => void
  isFinished: boolean
  showLine?: number | null
}

/** The log with its toolbar: host filter, search, wrap, copy, download, follow. */
export function LogPanel({ runId, blockedReason, store, isComplete, error, host, onHost, isFinished, showLine }: Props) {
  const version = useSyncExternalStore(store.subscribe, store.snapshot, store.snapshot)
  const view = useRef<LogViewHandle>(null)
  const [marked, setMarked] = useState<number | null>(() => showLine ?? lineInHash())
  const [follow, setFollow] = useState(() => !isFinished && marked === null)
  const [wrap, setWrap] = useState(false)
  const [search, setSearch] = useState('')
  const [hit, setHit] = useState(-1)
  const lines = useHostLines(store, version, host)
  const { hits, isFull } = useSearch(store, version, search, host)

  // The line of the URL hash may not be loaded yet; scroll to it once, when it is.
  const isDue = useRef(marked !== null)
  useEffect(() => {
    if (!isDue.current || marked === null || store.lineCount < marked) return
    isDue.current = false
    void version
    requestAnimationFrame(() => view.current?.showLine(marked))
  }, [version, marked, store])
  useEffect(() => setWrap(matchMedia('(max-width: 767px)').matches), [])

  const mark = useCallback((line: number) => {
    setMarked(line)
    window.history.replaceState(null, '', `${location.pathname}${location.search}#L${line}`)
  }, [])
  useEffect(() => {
    function onHash() {
      const line = lineInHash()
      setMarked(line)
      if (line) view.current?.showLine(line)
    }
    addEventListener('hashchange', onHash)
    return () => removeEventListener('hashchange', onHash)
  }, [])
  function go(step: number) {
    if (hits.length === 0) return
    const next = hit < 0 ? (step > 0 ? 0 : hits.length - 1) : (hit + step + hits.length) % hits.length
    setHit(next)
    const line = hits[next]
    if (line === undefined) return
    setMarked(line)
    view.current?.showLine(line)
  }
  function allText(): string {
    const out: string[] = []
    store.walk(0, (_, text, from) => {
      if (host === null || from === host) out.push(plain(text))
      return true
    })
    return out.join('\n')
  }

  /** The server offers only the whole log; the log of one host is assembled here. */
  function downloadHost() {
    const link = document.createElement('a')
    link.href = URL.createObjectURL(new Blob([`${allText()}\n`], { type: 'text/plain' }))
    link.download = `run-${host}.log`
    link.click()
    URL.revokeObjectURL(link.href)
  }

  return (
    <div className="flex h-[max(360px,calc(100dvh-240px))] flex-col overflow-hidden rounded-lg border border-line bg-panel">
      <div className="flex flex-wrap items-center gap-2 border-b border-line px-2 py-1.5">
        <div className="relative min-w-0 flex-1 basis-44">
          <Search className="pointer-events-none absolute top-2 left-2.5 size-4 text-faint" aria-hidden />
          <input
            data-search
            type="search"
            aria-label={t('log.search')}
            placeholder={t('log.search')}
            value={search}
            onChange={(event) => {
              setSearch(event.target.value)
              setHit(-1)
            }}
            onKeyDown={(event) => {
              if (event.key === 'Enter') go(event.shiftKey ? -1 : 1)
              if (event.key === 'Escape') search ? setSearch('') : event.currentTarget.blur()
            }}
            className="h-8 w-full rounded-md border border-line-strong bg-panel pr-2 pl-8 text-sm placeholder:text-faint"
          />
        </div>
        {search && (
          <span className="flex items-center text-xs text-muted tabular-nums" aria-live="polite">
            <span>
              {hits.length === 0
                ? t('log.noHits')
                : hit < 0
                  ? t(isFull ? 'log.hitsMany' : 'log.hits', { count: hits.length })
                  : t('log.hitOf', { at: hit + 1, count: hits.length })}
            </span>
            <Button variant="quiet" label={t('log.previous')} icon={<ChevronUp aria-hidden />} onClick={() => go(-1)} />
            <Button variant="quiet" label={t('log.next')} icon={<ChevronDown aria-hidden />} onClick={() => go(1)} />
          </span>
        )}
        <select
          aria-label={t('log.host')}
          value={host ?? ''}
          onChange={(event) => onHost(event.target.value || null)}
          className={clsx('h-8 max-w-40 rounded-md border border-line-strong bg-panel px-2 text-sm', host && 'font-mono')}
        >
          <option value="">{t('log.allHosts')}</option>
          {[...new Set([...store.hosts, ...(host ? [host] : [])])].sort().map((each) => (
            <option key={each} value={each}>
              {each}
            </option>
          ))}
        </select>
        <Button
          variant={wrap ? 'plain' : 'quiet'}
          aria-pressed={wrap}
          label={t('log.wrap')}
          icon={<WrapText aria-hidden />}
          onClick={() => setWrap(!wrap)}
        />
        <CopyButton text={allText} />
        {!blockedReason && (
          <Menu quiet iconOnly align="end" label={t('log.download')} icon={<Download aria-hidden />}>
            {formats.map((format) => (
              <MenuDownload key={format} href={`/api/runs/${encodeURIComponent(runId)}/log?format=${format}`}>
                {t(`logFormat.${format}`)}
              </MenuDownload>
            ))}
            {host !== null && <MenuItem onClick={downloadHost}>{t('log.downloadHost', { host })}</MenuItem>}
          </Menu>
        )}
        <span className="px-1 text-xs whitespace-nowrap text-muted tabular-nums" aria-live="polite">
          {isComplete ? t('log.lines', { count: store.lineCount }) : follow ? t('log.following') : t('log.paused')}
        </span>
      </div>
      {error && <p className="border-b border-line bg-bad-soft px-3 py-1.5 text-sm text-bad">{error}</p>}
      {store.lineCount === 0 ? (
        <div className="grid flex-1 place-items-center bg-sunken p-6 text-center text-sm text-muted">
          {blockedReason ?? (isComplete ? t('log.none') : t('log.waiting'))}
        </div>
      ) : (
        <LogView
          ref={view}
          store={store}
          version={version}
          lines={lines}
          wrap={wrap}
          follow={follow}
          onFollow={setFollow}
          marked={marked}
          onMark={mark}
          search={search}
        />
      )}
    </div>
  )
}
