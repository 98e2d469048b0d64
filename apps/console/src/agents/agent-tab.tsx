'use client'
import { Plug } from 'lucide-react'
import { useState } from 'react'
import { useQuery } from 'urql'
import { useLive, useReconnect } from '@/graphql/use-live.ts'
import { formatDuration } from '@/messages/format.ts'
import { t } from '@/messages/index.ts'
import { OneNodeUpdated } from '@/nodes/node-documents.ts'
import { Button } from '@/ui/button.tsx'
import { Empty } from '@/ui/empty.tsx'
import { Failure } from '@/ui/failure.tsx'
import { JsonTree } from '@/ui/json-tree.tsx'
import { Notice } from '@/ui/notice.tsx'
import { Facts, Panel } from '@/ui/page.tsx'
import { Skeleton } from '@/ui/skeleton.tsx'
import { Ago } from '@/ui/time.tsx'
import { AgentActions } from './agent-actions.tsx'
import { type AgentDetails, NodeAgentQuery } from './agent-documents.ts'
import { AgentState } from './badges.tsx'
import { type HeartbeatNews, Heartbeats } from './documents.ts'
import { EnrolDialog } from './enrol-dialog.tsx'
import { everyStep } from './history.ts'
import { Sparkline } from './sparkline.tsx'
import { Timeline } from './timeline.tsx'
import { Trust } from './trust.tsx'

const percent = (value: number) => t('unit.percent', { value: Math.round(value) })

/** The day in lines: how busy the node was, how its clock went, what did not arrive. */
function History({ history, now }: { history: AgentDetails['history']; now: HeartbeatNews | null }) {
  const steps = everyStep(history)
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
        <Sparkline
          label={t('agent.missed')}
          values={steps.map((step) => step?.missed ?? null)}
          unit={(count) => t('common.count', { count })}
        />
      </div>
    </Panel>
  )
}

/** The agent of a node: how it is, why to believe it, what became of it, and what can be done. */
export function AgentTab({ nodeId, name }: { nodeId: string; name: string }) {
  const [{ data, error }, read] = useQuery({
    query: NodeAgentQuery,
    variables: { id: nodeId },
    requestPolicy: 'cache-and-network',
  })
  const [now, setNow] = useState<HeartbeatNews | null>(null)
  const [isEnrolling, setEnrolling] = useState(false)
  const reload = () => read({ requestPolicy: 'network-only' })
  useReconnect(reload)
  // A key that came, or what somebody else approved.
  useLive(OneNodeUpdated, { id: nodeId }, reload)
  const node = data?.node?.__typename === 'ComputeNode' ? data.node : null
  const agent = node?.agent ?? null
  useLive(Heartbeats, agent ? { nodeId } : null, ({ heartbeats: [beat] }) => {
    if (!beat) return
    setNow(beat)
    // A change of state has a transition and other reasons with it; the rest of a beat is all there is to it.
    if (agent && beat.state !== agent.state) reload()
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
  const enrol = isEnrolling && <EnrolDialog node={{ id: nodeId, name }} onClose={() => setEnrolling(false)} />
  if (!agent)
    return (
      <>
        <Empty
          icon={<Plug aria-hidden />}
          title={t('agent.emptyTitle')}
          action={
            <Button look="primary" onClick={() => setEnrolling(true)}>
              {t('enrol.openNode')}
            </Button>
          }
        >
          <p>{t('agent.emptyText')}</p>
        </Empty>
        {enrol}
      </>
    )
  const beat = agent.lastHeartbeat
  const heardAt = now?.heardAt ?? beat?.heardAt
  return (
    <div className="grid items-start gap-4 lg:grid-cols-2">
      <div className="flex flex-wrap gap-2 lg:col-span-2">
        <AgentActions nodeId={nodeId} name={name} agent={agent} onEnrol={() => setEnrolling(true)} />
      </div>
      {agent.heldAt && (
        <div className="lg:col-span-2">
          <Notice tone="warn" title={t('fleet.heldTitle')}>
            {t('agent.held')}
          </Notice>
        </div>
      )}
      <Panel title={t('agent.title')}>
        <Facts
          rows={[
            [
              t('agent.state'),
              <span key="s" className="flex flex-wrap gap-x-2" aria-live="polite">
                <AgentState state={agent.state} />
                <span className="text-muted">
                  {t(`agentReason.${agent.stateReason}`)} <Ago at={agent.stateSince} />
                </span>
              </span>,
            ],
            [t('agent.heard'), <Ago key="h" at={heardAt} never={t('common.never')} />],
            [t('agent.health'), beat?.health ?? t('common.none')],
            [t('agent.jobs'), beat?.runningJobs ?? t('common.none')],
            [t('agent.slurm'), beat?.slurmState ?? t('common.none')],
            ...(agent.drainRequestedAt
              ? [
                  [
                    t('agent.drain'),
                    t('agent.drainText', { name: agent.drainRequestedByName ?? '', reason: agent.drainReason ?? '' }),
                  ] as [string, string],
                ]
              : []),
            [t('agent.cluster'), agent.cluster],
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
                  sequence: now?.sequence ?? beat?.sequence ?? t('common.none'),
                  accepted: beat?.accepted ?? 0,
                  missed: beat?.missed ?? 0,
                })}
              </span>,
            ],
            [t('agent.registered'), <Ago key="r" at={agent.registeredAt} />],
          ]}
        />
      </Panel>
      <Trust agent={agent} nodeId={nodeId} />
      <History history={agent.history} now={now} />
      <Timeline transitions={agent.transitions} />
      <div className="lg:col-span-2">
        <Panel title={t('agent.report')}>
          {agent.report ? (
            <div className="max-h-96 overflow-auto">
              <JsonTree value={agent.report} search="" />
            </div>
          ) : (
            <p className="text-sm text-muted">{t('agent.noReport')}</p>
          )}
        </Panel>
      </div>
      {enrol}
    </div>
  )
}
