'use client'
import { CircleCheck, CircleX, LoaderCircle } from 'lucide-react'
import Link from 'next/link'
import { useCallback, useEffect, useRef, useState } from 'react'
import { useLive } from '@/graphql/use-live.ts'
import { useVerb } from '@/graphql/use-verb.ts'
import { t } from '@/messages/index.ts'
import { AcceleratorBadges } from '@/nodes/badges.tsx'
import { DiscoverNodes, type DiscoveryNews, DiscoveryUpdated } from '@/nodes/documents.ts'
import { nodeHref } from '@/nodes/node-line.tsx'
import { ToolReports } from '@/nodes/tool-reports.tsx'
import { Button, ButtonLink } from '@/ui/button.tsx'
import { Notice } from '@/ui/notice.tsx'

function Found({ news }: { news: DiscoveryNews }) {
  const isBad = news.status === 'FAILED'
  const summary = news.node.acceleratorSummary
  const odd = news.tools.some((tool) => tool.state === 'FAILED' || tool.state === 'TIMED_OUT' || tool.state === 'FOREIGN')
  return (
    <li
      className="flex flex-col gap-2 border-b border-line px-4 py-2.5 last:border-0"
      data-testid="found"
      data-node={news.node.name}
      data-status={news.status}
    >
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5 text-sm">
        {isBad ? (
          <CircleX className="size-4 text-bad" aria-hidden />
        ) : news.finishedAt ? (
          <CircleCheck className="size-4 text-ok" aria-hidden />
        ) : (
          <LoaderCircle className="size-4 animate-spin text-accent" aria-hidden />
        )}
        <Link href={nodeHref(news.node.id)} className="font-mono font-medium hover:underline">
          {news.node.name}
        </Link>
        <span className="ml-auto min-w-0">
          {!news.finishedAt ? (
            <span className="text-muted">{t('discovery.looking')}</span>
          ) : summary.length > 0 ? (
            <AcceleratorBadges summary={summary} />
          ) : (
            !isBad && <span className="text-muted">{t('discovery.noDevices')}</span>
          )}
        </span>
      </div>
      {news.error && <p className="pl-7 text-sm text-bad">{news.error}</p>}
      {news.warnings.map((warning) => (
        <p key={warning} className="pl-7 text-xs text-warn">
          {warning}
        </p>
      ))}
      {odd && (
        <div className="pl-7">
          <ToolReports discovery={news} />
        </div>
      )}
    </li>
  )
}

/** Step 3: look at each node and say what was found. */
export function DiscoveryStep({ nodeIds }: { nodeIds: string[] }) {
  const { run, busy, problem } = useVerb(DiscoverNodes)
  const [ids, setIds] = useState<string[]>([])
  const [news, setNews] = useState<ReadonlyMap<string, DiscoveryNews>>(new Map())
  const start = useCallback(
    async (nodes: string[]) => {
      const outcome = await run({ nodeIds: nodes })
      if (outcome.ok) setIds((before) => [...before, ...outcome.value.discoveries.map((discovery) => discovery.id)])
    },
    [run],
  )
  const isStarted = useRef(false)
  useEffect(() => {
    if (isStarted.current) return
    isStarted.current = true
    void start(nodeIds)
  }, [start, nodeIds])
  useLive(DiscoveryUpdated, ids.length > 0 ? { ids } : null, ({ discoveryUpdated }) =>
    setNews((before) => new Map(before).set(discoveryUpdated.node.id, discoveryUpdated)),
  )
  const found = nodeIds.flatMap((id) => news.get(id) ?? [])
  const done = found.filter((each) => each.finishedAt !== null)
  const failed = done.filter((each) => each.status === 'FAILED')
  const devices = done.reduce((sum, each) => sum + each.acceleratorCount, 0)
  const isOver = done.length === nodeIds.length
  return (
    <div className="flex flex-col gap-4">
      {problem && (
        <Notice tone="bad" action={<Button onClick={() => void start(nodeIds)}>{t('common.retry')}</Button>}>
          {problem.message}
        </Notice>
      )}
      <p className="text-sm text-muted tabular-nums" aria-live="polite">
        {isOver
          ? t('discovery.summary', { devices, nodes: done.length - failed.length })
          : t('discovery.progress', { done: done.length, total: nodeIds.length })}
      </p>
      <ul className="rounded-lg border border-line bg-panel">
        {found.length > 0 ? (
          found.map((each) => <Found key={each.id} news={each} />)
        ) : (
          <li className="flex items-center gap-2 px-4 py-3 text-sm text-muted">
            <LoaderCircle className="size-4 animate-spin" aria-hidden />
            {t('discovery.starting')}
          </li>
        )}
      </ul>
      <div className="flex flex-wrap gap-2">
        <ButtonLink look="primary" href={nodeIds.length === 1 ? nodeHref(nodeIds[0] ?? '') : '/nodes'}>
          {nodeIds.length === 1 ? t('wizard.toNode') : t('wizard.toNodes')}
        </ButtonLink>
        {failed.length > 0 && isOver && (
          <Button busy={busy} onClick={() => void start(failed.map((each) => each.node.id))}>
            {t('preflight.retryFailed', { count: failed.length })}
          </Button>
        )}
        <ButtonLink href="/nodes/add">{t('wizard.addMore')}</ButtonLink>
      </div>
    </div>
  )
}
