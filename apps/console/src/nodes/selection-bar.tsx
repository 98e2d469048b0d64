'use client'
import { Cable, Play, Radar, X } from 'lucide-react'
import { useRouter } from 'next/navigation'
import { useState } from 'react'
import { useClient } from 'urql'
import { useBlockedReason } from '@/access/viewer.tsx'
import { useMutation } from '@/graphql/use-mutation.ts'
import { t } from '@/messages/index.ts'
import { PowerMenu } from '@/power/power-menu.tsx'
import { Button } from '@/ui/button.tsx'
import { toast } from '@/ui/toast.tsx'
import { BulkActions } from './bulk-actions.tsx'
import { DiscoverNodes, NodeIdsQuery, TestConnections } from './documents.ts'
import type { NodeFilter } from './filter.ts'
import { toNodesParam } from './selection-store.ts'

type Props = {
  ids: string[]
  total: number | null
  filter: NodeFilter
  onChange: (ids: string[]) => void
}

/** Actions on the selected nodes, at the bottom of the page. */
export function SelectionBar({ ids, total, filter, onChange }: Props) {
  const client = useClient()
  const router = useRouter()
  const test = useMutation(TestConnections)
  const discover = useMutation(DiscoverNodes)
  const [isReading, setReading] = useState(false)
  const blocked = {
    run: useBlockedReason('job_run:start'),
    test: useBlockedReason('connection:test'),
    discover: useBlockedReason('discovery:start'),
    change: useBlockedReason('node:write'),
  }

  async function selectAll() {
    setReading(true)
    const all: string[] = []
    let after: string | null = null
    do {
      const result = await client
        .query(NodeIdsQuery, { filter, first: 500, after }, { requestPolicy: 'network-only' })
        .toPromise()
      const page: NonNullable<typeof result.data>['nodes'] | undefined = result.data?.nodes
      if (!page) {
        toast('bad', t('error.load'))
        break
      }
      all.push(...page.edges.map((edge) => edge.node.id))
      after = page.pageInfo.hasNextPage ? page.pageInfo.endCursor : null
    } while (after)
    setReading(false)
    onChange(all)
  }
  async function startTest() {
    const outcome = await test.run({ nodeIds: ids })
    if (outcome.ok) toast('ok', t('nodes.testsStarted', { count: ids.length }))
    else toast('bad', outcome.problem.message)
  }
  async function startDiscovery() {
    const outcome = await discover.run({ nodeIds: ids })
    if (outcome.ok) toast('ok', t('nodes.discoveriesStarted', { count: ids.length }))
    else toast('bad', outcome.problem.message)
  }
  return (
    <div className="pointer-events-none sticky bottom-16 z-20 mt-4 flex justify-center md:bottom-4">
      <div
        role="toolbar"
        aria-label={t('nodes.selectedActions')}
        className="pointer-events-auto flex max-w-full flex-wrap items-center justify-center gap-2 rounded-xl border border-line-strong bg-panel p-2 pl-4 shadow-float"
      >
        <span className="text-sm font-medium tabular-nums" aria-live="polite">
          {t('nodes.selected', { count: ids.length })}
        </span>
        <Button variant="quiet" label={t('nodes.clearSelection')} icon={<X aria-hidden />} onClick={() => onChange([])} />
        {total !== null && ids.length < total && (
          <Button variant="quiet" busy={isReading} onClick={() => void selectAll()}>
            {t('nodes.selectAll', { count: total })}
          </Button>
        )}
        <Button
          variant="primary"
          icon={<Play aria-hidden />}
          blockedReason={blocked.run}
          onClick={() => router.push(`/runs/new?nodes=${encodeURIComponent(toNodesParam(ids))}`)}
        >
          {t('nodes.run')}
        </Button>
        <Button icon={<Cable aria-hidden />} blockedReason={blocked.test} busy={test.busy} onClick={() => void startTest()}>
          {t('nodes.test')}
        </Button>
        <Button
          icon={<Radar aria-hidden />}
          blockedReason={blocked.discover}
          busy={discover.busy}
          onClick={() => void startDiscovery()}
        >
          {t('nodes.discover')}
        </Button>
        <PowerMenu nodeIds={ids} />
        <BulkActions
          ids={ids}
          blockedReason={blocked.change}
          onPurged={(gone) => onChange(ids.filter((id) => !gone.includes(id)))}
        />
      </div>
    </div>
  )
}
