'use client'
import { Radar } from 'lucide-react'
import Link from 'next/link'
import { useParams } from 'next/navigation'
import { useEffect, useRef, useState } from 'react'
import { useQuery } from 'urql'
import { AgentTab } from '@/agents/agent-tab.tsx'
import { BootTab } from '@/boot/node-boot/boot-tab.tsx'
import { HostKeyAlarm } from '@/connections/host-key-alarm.tsx'
import { DiscoveriesTab } from '@/discoveries/discoveries-tab.tsx'
import { useLive, useReconnect } from '@/graphql/use-live.ts'
import { useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { AcceleratorTable } from '@/nodes/accelerator-table.tsx'
import { formatAddress, NodeHealth, NodeStatus } from '@/nodes/badges.tsx'
import { DiscoverNodes, DiscoveryUpdated } from '@/nodes/documents.ts'
import { FactsTab } from '@/nodes/facts-tab.tsx'
import { NodeActions } from '@/nodes/node-actions.tsx'
import { type NodePageData, NodeQuery, OneNodeUpdated } from '@/nodes/node-documents.ts'
import { OverviewTab } from '@/nodes/overview-tab.tsx'
import { RunsTab } from '@/nodes/runs-tab.tsx'
import { MaintenanceNotice } from '@/nodes/states/maintenance-notice.tsx'
import { PowerTab } from '@/power/power-tab.tsx'
import { Button, ButtonLink } from '@/ui/button.tsx'
import { Empty } from '@/ui/empty.tsx'
import { Failure } from '@/ui/failure.tsx'
import { useQueryState } from '@/ui/hooks/use-query-state.ts'
import { useTitle } from '@/ui/hooks/use-title.ts'
import { Notice } from '@/ui/notice.tsx'
import { PageHead } from '@/ui/page.tsx'
import { RelativeTime } from '@/ui/relative-time.tsx'
import { Skeleton } from '@/ui/skeleton.tsx'
import { Tabs } from '@/ui/tabs.tsx'
import { toast } from '@/ui/toast.tsx'

const tabs = ['overview', 'accelerators', 'facts', 'discoveries', 'runs', 'agent', 'power', 'boot'] as const
type Tab = (typeof tabs)[number]

function Loaded({ node, reload }: { node: NodePageData; reload: () => void }) {
  const query = useQueryState()
  const requested = query.get('tab') as Tab
  const tab = tabs.includes(requested) ? requested : 'overview'
  const discover = useMutation(DiscoverNodes)
  const [discoveryIds, setDiscoveryIds] = useState<string[]>([])
  useLive(
    DiscoveryUpdated,
    discoveryIds.length > 0 ? { ids: discoveryIds } : null,
    ({ discoveryUpdated }) => {
      if (!discoveryUpdated.finishedAt) return
      setDiscoveryIds([])
      reload()
      if (discoveryUpdated.status === 'FAILED') toast('bad', discoveryUpdated.error ?? t('discoveries.failed'))
      else toast('ok', t('discoveries.done', { count: discoveryUpdated.acceleratorCount }))
    },
    () => setDiscoveryIds([]),
  )
  const isDiscovering = discover.busy || discoveryIds.length > 0
  async function startDiscovery() {
    const outcome = await discover.run({ nodeIds: [node.id] })
    if (outcome.ok) setDiscoveryIds(outcome.value.discoveries.map((discovery) => discovery.id))
    else toast('bad', outcome.problem.message)
  }
  const action = (
    <Button
      variant="primary"
      icon={<Radar aria-hidden />}
      blockedReason={node.updateBlockedReason}
      busy={isDiscovering}
      onClick={() => void startDiscovery()}
    >
      {t('nodes.discover')}
    </Button>
  )
  return (
    <>
      <PageHead
        above={
          <Link href="/nodes" className="hover:underline">
            {t('nav.nodes')}
          </Link>
        }
        title={<span className="truncate font-mono">{node.name}</span>}
        below={
          <div className="flex flex-wrap items-center gap-x-5 gap-y-1 text-sm text-muted">
            <span className="text-text" aria-live="polite">
              <NodeStatus node={node} />
            </span>
            <NodeHealth health={node.health} showReason />
            {node.displayName && <span>{node.displayName}</span>}
            <span className="font-mono text-xs">{formatAddress(node.host, node.port)}</span>
            <span>
              {node.lastSeenAt
                ? t.rich('node.lastSeenAt', { time: () => <RelativeTime at={node.lastSeenAt} /> })
                : t('node.neverSeen')}
            </span>
          </div>
        }
      >
        <NodeActions node={node} onDiscover={() => void startDiscovery()} isDiscovering={isDiscovering} />
      </PageHead>
      <HostKeyAlarm node={node} blockedReason={node.updateBlockedReason} />
      {node.status === 'MAINTENANCE' && <MaintenanceNotice node={node} />}
      {node.statusReason && !node.hostKeyAlarm && node.status === 'UNREACHABLE' && (
        <div className="mb-4">
          <Notice tone="bad">{node.statusReason}</Notice>
        </div>
      )}
      <Tabs
        label={t('node.views')}
        value={tab}
        onChange={(next) => query.set({ tab: next === 'overview' ? null : next })}
        tabs={[
          { key: 'overview', label: t('node.tabOverview') },
          { key: 'accelerators', label: t('nodes.accelerators'), count: node.accelerators.length },
          { key: 'facts', label: t('node.tabFacts') },
          { key: 'discoveries', label: t('node.tabDiscoveries') },
          { key: 'runs', label: t('nav.runs') },
          { key: 'agent', label: t('node.tabAgent') },
          { key: 'power', label: t('power.tab') },
          { key: 'boot', label: t('node.tabBoot') },
        ]}
      >
        {tab === 'overview' && <OverviewTab node={node} />}
        {tab === 'accelerators' && <AcceleratorTable devices={node.accelerators} action={action} />}
        {tab === 'facts' && <FactsTab key={node.discoveredAt} id={node.id} action={action} />}
        {tab === 'discoveries' && (
          <DiscoveriesTab id={node.id} name={node.name} latestId={node.latestDiscovery?.id} action={action} />
        )}
        {tab === 'runs' && <RunsTab id={node.id} />}
        {tab === 'power' && <PowerTab id={node.id} />}
        {tab === 'boot' && <BootTab id={node.id} />}
        {tab === 'agent' && <AgentTab nodeId={node.id} name={node.name} />}
      </Tabs>
    </>
  )
}

/** The page of a node. */
export default function NodePage() {
  const id = decodeURIComponent(String(useParams().id))
  const [{ data, error }, refetch] = useQuery({ query: NodeQuery, variables: { id }, requestPolicy: 'cache-and-network' })
  const reload = () => refetch({ requestPolicy: 'network-only' })
  useLive(OneNodeUpdated, { id })
  useReconnect(reload)
  const node = data?.node?.__typename === 'ComputeNode' ? data.node : null
  // Subscriptions send only the node's own fields; refetch its accelerators and latest discovery after a discovery.
  const discovered = useRef({ id, at: node?.discoveredAt })
  useEffect(() => {
    const before = discovered.current
    if (before.id === id && before.at === node?.discoveredAt) return
    discovered.current = { id, at: node?.discoveredAt }
    if (before.id === id && before.at !== undefined && node) refetch({ requestPolicy: 'network-only' })
  }, [id, node, refetch])
  useTitle(node?.name)
  if (node) return <Loaded node={node} reload={reload} />
  if (error)
    return (
      <Failure title={t('node.loadFailed')} message={error.graphQLErrors[0]?.message ?? t('error.network')} onRetry={reload} />
    )
  if (data) {
    return (
      <Empty title={t('node.notFound')} action={<ButtonLink href="/nodes">{t('notFound.action')}</ButtonLink>}>
        <p>{t('node.notFoundText')}</p>
      </Empty>
    )
  }
  return (
    <div className="flex flex-col gap-4">
      <Skeleton className="h-7 w-56" />
      <Skeleton className="h-4 w-96 max-w-full" />
      <Skeleton className="h-9 w-full" />
      <div className="grid gap-4 lg:grid-cols-2">
        <Skeleton className="h-72 w-full" />
        <Skeleton className="h-72 w-full" />
      </div>
    </div>
  )
}
