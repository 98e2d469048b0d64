'use client'
import { CircleCheck, CircleX, LoaderCircle } from 'lucide-react'
import Link from 'next/link'
import { useCallback, useEffect, useRef, useState } from 'react'
import { ToolReports } from '@/discoveries/tool-reports.tsx'
import { useLiveObjects } from '@/graphql/use-live.ts'
import { useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { AcceleratorBadges, NodeHealth } from '@/nodes/badges.tsx'
import { DiscoverNodes, type DiscoveryUpdate, DiscoveryUpdated } from '@/nodes/documents.ts'
import { nodeHref } from '@/nodes/node-line.tsx'
import { Button, ButtonLink } from '@/ui/button.tsx'
import { Notice } from '@/ui/notice.tsx'

function DiscoveryItem({ update }: { update: DiscoveryUpdate }) {
  const isFailed = update.status === 'FAILED'
  const summary = update.node.acceleratorSummary
  const hasToolProblem = update.tools.some(
    (tool) => tool.state === 'FAILED' || tool.state === 'TIMED_OUT' || tool.state === 'FOREIGN',
  )
  return (
    <li
      className="flex flex-col gap-2 border-b border-line px-4 py-2.5 last:border-0"
      data-testid="found"
      data-node={update.node.name}
      data-status={update.status}
    >
      <div className="flex flex-wrap items-center gap-x-3 gap-y-1.5 text-sm">
        {isFailed ? (
          <CircleX className="size-4 text-bad" aria-hidden />
        ) : update.finishedAt ? (
          <CircleCheck className="size-4 text-ok" aria-hidden />
        ) : (
          <LoaderCircle className="size-4 animate-spin text-accent" aria-hidden />
        )}
        <Link href={nodeHref(update.node.id)} className="font-mono font-medium hover:underline">
          {update.node.name}
        </Link>
        <NodeHealth health={update.node.health} />
        <span className="ml-auto min-w-0">
          {!update.finishedAt ? (
            <span className="text-muted">{t('discovery.running')}</span>
          ) : summary.length > 0 ? (
            <AcceleratorBadges summary={summary} />
          ) : (
            !isFailed && <span className="text-muted">{t('discovery.noDevices')}</span>
          )}
        </span>
      </div>
      {update.error && <p className="pl-7 text-sm text-bad">{update.error}</p>}
      {update.warnings.map((warning) => (
        <p key={warning} className="pl-7 text-xs text-warn">
          {warning}
        </p>
      ))}
      {hasToolProblem && (
        <div className="pl-7">
          <ToolReports discovery={update} />
        </div>
      )}
    </li>
  )
}

/** Step 3: discovers each node and shows its accelerators. */
export function DiscoveryStep({ nodeIds }: { nodeIds: string[] }) {
  const { run, busy, problem } = useMutation(DiscoverNodes)
  const [ids, setIds] = useState<string[]>([])
  const [updates, setUpdates] = useState<ReadonlyMap<string, DiscoveryUpdate>>(new Map())
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
  useLiveObjects(DiscoveryUpdated, ids, ({ discoveryUpdated }) =>
    setUpdates((before) => new Map(before).set(discoveryUpdated.node.id, discoveryUpdated)),
  )
  const found = nodeIds.flatMap((id) => updates.get(id) ?? [])
  const done = found.filter((each) => each.finishedAt !== null)
  const failed = done.filter((each) => each.status === 'FAILED')
  const devices = done.reduce((sum, each) => sum + each.acceleratorCount, 0)
  const isFinished = done.length === nodeIds.length
  return (
    <div className="flex flex-col gap-4">
      {problem && (
        <Notice tone="bad" action={<Button onClick={() => void start(nodeIds)}>{t('common.retry')}</Button>}>
          {problem.message}
        </Notice>
      )}
      <p className="text-sm text-muted tabular-nums" aria-live="polite">
        {isFinished
          ? t('discovery.summary', { devices, nodes: done.length - failed.length })
          : t('discovery.progress', { done: done.length, total: nodeIds.length })}
      </p>
      <ul className="rounded-lg border border-line bg-panel">
        {found.length > 0 ? (
          found.map((each) => <DiscoveryItem key={each.id} update={each} />)
        ) : (
          <li className="flex items-center gap-2 px-4 py-3 text-sm text-muted">
            <LoaderCircle className="size-4 animate-spin" aria-hidden />
            {t('discovery.starting')}
          </li>
        )}
      </ul>
      <div className="flex flex-wrap gap-2">
        <ButtonLink variant="primary" href={nodeIds.length === 1 ? nodeHref(nodeIds[0] ?? '') : '/nodes'}>
          {nodeIds.length === 1 ? t('wizard.toNode') : t('wizard.toNodes')}
        </ButtonLink>
        {failed.length > 0 && isFinished && (
          <Button busy={busy} onClick={() => void start(failed.map((each) => each.node.id))}>
            {t('preflight.retryFailed', { count: failed.length })}
          </Button>
        )}
        <ButtonLink href="/nodes/add">{t('wizard.addMore')}</ButtonLink>
      </div>
    </div>
  )
}
