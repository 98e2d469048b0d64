'use client'
import { Plug } from 'lucide-react'
import Link from 'next/link'
import { useState } from 'react'
import { useQuery } from 'urql'
import { useLive, useReconnect } from '@/graphql/use-live.ts'
import { formatDuration } from '@/messages/format.ts'
import { formatNumber, t } from '@/messages/index.ts'
import { OneNodeUpdated } from '@/nodes/node-documents.ts'
import { nodeTone } from '@/slurm/badges.tsx'
import { clusterHref } from '@/slurm/cluster-card.tsx'
import { State } from '@/ui/badge.tsx'
import { Button } from '@/ui/button.tsx'
import { Empty } from '@/ui/empty.tsx'
import { Failure } from '@/ui/failure.tsx'
import { JsonTree } from '@/ui/json-tree.tsx'
import { Notice } from '@/ui/notice.tsx'
import { Panel, PropertyList } from '@/ui/page.tsx'
import { RelativeTime } from '@/ui/relative-time.tsx'
import { Skeleton } from '@/ui/skeleton.tsx'
import { AgentActions } from './agent-actions.tsx'
import { type AgentDetails, NodeAgentQuery } from './agent-documents.ts'
import { AgentState } from './badges.tsx'
import { Heartbeats, type HeartbeatUpdate } from './documents.ts'
import { EnrollDialog } from './enroll-dialog.tsx'
import { fillGaps } from './heartbeat-history.ts'
import { Sparkline } from './sparkline.tsx'
import { StateHistory } from './state-history.tsx'
import { Trust } from './trust.tsx'

/** A result of a query for display, without the `__typename` that the client adds to every object. */
const withoutTypeNames = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(withoutTypeNames)
  if (value === null || typeof value !== 'object') return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([key, each]) => (key === '__typename' ? [] : [[key, withoutTypeNames(each)]])),
  )
}

const percent = (value: number) => t('unit.percent', { value: Math.round(value) })

/** Load, clock skew and missed heartbeats of the last 24 hours. */
function HeartbeatCharts({ history, now }: { history: AgentDetails['heartbeatHistory']; now: HeartbeatUpdate | null }) {
  const steps = fillGaps(history)
  const withNow = (values: (number | null)[], last: number | null | undefined) =>
    typeof last === 'number' ? [...values, last] : values
  return (
    <Panel title={t('agent.day')}>
      <div className="grid gap-4 sm:grid-cols-2">
        <Sparkline
          label={t('agent.cpu')}
          values={withNow(
            steps.map((step) => step?.cpuPercent ?? null),
            now?.cpuPercent,
          )}
          unit={percent}
          max={100}
        />
        <Sparkline
          label={t('agent.memory')}
          values={withNow(
            steps.map((step) => step?.memoryPercent ?? null),
            now?.memoryPercent,
          )}
          unit={percent}
          max={100}
        />
        <Sparkline label={t('agent.skew')} values={steps.map((step) => step?.maxSkewMs ?? null)} unit={formatDuration} />
        <Sparkline label={t('agent.missed')} values={steps.map((step) => step?.missed ?? null)} unit={formatNumber} />
      </div>
    </Panel>
  )
}

/** A node's agent: state, trust checks, history and actions. */
export function AgentTab({ nodeId, name }: { nodeId: string; name: string }) {
  const [{ data, error }, read] = useQuery({
    query: NodeAgentQuery,
    variables: { id: nodeId },
    requestPolicy: 'cache-and-network',
  })
  const [now, setNow] = useState<HeartbeatUpdate | null>(null)
  const [isEnrolling, setEnrolling] = useState(false)
  const reload = () => read({ requestPolicy: 'network-only' })
  useReconnect(reload)
  // A key may have been presented, or approved by another user.
  useLive(OneNodeUpdated, { id: nodeId }, reload)
  const node = data?.node?.__typename === 'ComputeNode' ? data.node : null
  const agent = node?.agent ?? null
  useLive(Heartbeats, agent ? { nodeId } : null, ({ heartbeats: [heartbeat] }) => {
    if (!heartbeat) return
    setNow(heartbeat)
    // A state change also changes transitions and reasons; the heartbeat has all other values.
    if (agent && heartbeat.state !== agent.state) reload()
  })
  if (error && !node)
    return (
      <Failure title={t('agent.loadFailed')} message={error.graphQLErrors[0]?.message ?? t('error.network')} onRetry={reload} />
    )
  if (!node)
    return (
      <div className="grid gap-4 lg:grid-cols-2">
        <Skeleton className="h-64 w-full" />
        <Skeleton className="h-64 w-full" />
      </div>
    )
  const enroll = isEnrolling && <EnrollDialog node={{ id: nodeId, name }} onClose={() => setEnrolling(false)} />
  if (!agent)
    return (
      <>
        <Empty
          icon={<Plug aria-hidden />}
          title={t('agent.emptyTitle')}
          action={
            <Button variant="primary" onClick={() => setEnrolling(true)}>
              {t('enroll.openNode')}
            </Button>
          }
        >
          <p>{t('agent.emptyText')}</p>
        </Empty>
        {enroll}
      </>
    )
  const heartbeat = agent.lastHeartbeat
  const receivedAt = now?.receivedAt ?? heartbeat?.receivedAt
  return (
    <div className="grid grid-cols-1 items-start gap-4 lg:grid-cols-2">
      <div className="flex flex-wrap gap-2 lg:col-span-2">
        <AgentActions nodeId={nodeId} name={name} agent={agent} onEnroll={() => setEnrolling(true)} />
      </div>
      {agent.offlineSuppressedAt && (
        <div className="lg:col-span-2">
          <Notice tone="warn" title={t('fleet.massOutageTitle')}>
            {t('agent.massOutage')}
          </Notice>
        </div>
      )}
      <Panel title={t('agent.title')}>
        <PropertyList
          rows={[
            [
              t('agent.state'),
              <span key="s" className="flex flex-wrap gap-x-2" aria-live="polite">
                <AgentState state={agent.state} />
                <span className="text-muted">
                  {t(`agentReason.${agent.stateReason}`)} · <RelativeTime at={agent.stateSince} />
                </span>
              </span>,
            ],
            [t('agent.heard'), <RelativeTime key="h" at={receivedAt} never={t('common.never')} />],
            [t('agent.health'), heartbeat?.health ? t(`agentHealth.${heartbeat.health}`) : t('common.none')],
            [t('agent.jobs'), heartbeat?.runningJobs ?? t('common.none')],
            [
              t('agent.slurm'),
              node.slurmState ? (
                <span key="l" className="flex flex-wrap gap-x-2">
                  <State tone={nodeTone(node.slurmState.state)}>
                    <span className="font-mono text-xs">{node.slurmState.state}</span>
                  </State>
                  <span className="text-muted">
                    {t(`slurmStateSource.${node.slurmState.source}`)} · <RelativeTime at={node.slurmState.observedAt} />
                  </span>
                </span>
              ) : (
                t('common.none')
              ),
            ],
            ...(agent.drainRequestedAt
              ? [
                  [
                    t('agent.drain'),
                    t('agent.drainText', { name: agent.drainRequestedBy?.name ?? '', reason: agent.drainReason ?? '' }),
                  ] as [string, string],
                ]
              : []),
            ...(agent.drainError ? [[t('agent.drainError'), agent.drainError] as [string, string]] : []),
            [
              t('agent.cluster'),
              agent.slurmCluster ? (
                <Link key="c" className="hover:underline" href={clusterHref(agent.slurmCluster.id)}>
                  {agent.cluster}
                </Link>
              ) : (
                agent.cluster
              ),
            ],
            [t('agent.place'), [node.region, node.datacenter].filter(Boolean).join(' · ') || t('common.none')],
            [
              t('agent.agentId'),
              <code key="i" className="font-mono text-xs">
                {agent.agentId}
              </code>,
            ],
            [t('agent.version'), agent.version ?? t('common.none')],
            [
              t('agent.sequence'),
              <span key="q" className="tabular-nums">
                {t('agent.sequenceText', {
                  sequence: String(now?.sequence ?? heartbeat?.sequence ?? t('common.none')),
                  accepted: heartbeat?.accepted ?? 0,
                  missed: heartbeat?.missed ?? 0,
                })}
              </span>,
            ],
            [t('agent.registered'), <RelativeTime key="r" at={agent.registeredAt} />],
          ]}
        />
      </Panel>
      <Trust agent={agent} nodeId={nodeId} />
      <HeartbeatCharts history={agent.heartbeatHistory} now={now} />
      <StateHistory transitions={agent.transitions} />
      <div className="lg:col-span-2">
        <Panel title={t('agent.report')}>
          {agent.report ? (
            <div className="max-h-96 overflow-auto">
              <JsonTree value={withoutTypeNames(agent.report)} search="" />
            </div>
          ) : (
            <p className="text-sm text-muted">{t('agent.noReport')}</p>
          )}
        </Panel>
      </div>
      {enroll}
    </div>
  )
}
