'use client'
import { Activity, Plus } from 'lucide-react'
import { useState } from 'react'
import { EnrolDialog } from '@/agents/enrol-dialog.tsx'
import { EnrolmentTokens } from '@/agents/enrolment-tokens.tsx'
import { FleetView } from '@/agents/fleet-view.tsx'
import { useFleet } from '@/agents/use-fleet.ts'
import { WaitingAgents } from '@/agents/waiting-agents.tsx'
import { formatNumber, t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { Empty } from '@/ui/empty.tsx'
import { Failure } from '@/ui/failure.tsx'
import { Notice } from '@/ui/notice.tsx'
import { PageHead } from '@/ui/page.tsx'
import { Skeleton } from '@/ui/skeleton.tsx'
import { TabPanel, Tabs } from '@/ui/tabs.tsx'
import { useQueryState } from '@/ui/use-query-state.ts'
import { useTitle } from '@/ui/use-title.ts'

/** How all nodes with an agent are, live; and what lets further ones in. */
export default function FleetPage() {
  useTitle(t('nav.fleet'))
  const query = useQueryState()
  const fleet = useFleet()
  const tab = query.get('tab') === 'enrolment' ? 'enrolment' : 'fleet'
  const [isEnrolling, setEnrolling] = useState(false)
  const [made, setMade] = useState(0)
  const total = (fleet.clusters ?? []).reduce((sum, { names }) => sum + names.length, 0)
  const enrol = (
    <Button look="primary" icon={<Plus aria-hidden />} onClick={() => setEnrolling(true)}>
      {t('enrol.open')}
    </Button>
  )
  return (
    <>
      <PageHead title={t('nav.fleet')} count={total > 0 ? formatNumber(total) : undefined}>
        {enrol}
      </PageHead>
      <WaitingAgents />
      {fleet.heldCount > 0 && (
        <div className="pb-3">
          <Notice tone="warn" title={t('fleet.heldTitle')}>
            {t('fleet.heldText', { count: fleet.heldCount })}
          </Notice>
        </div>
      )}
      <Tabs
        label={t('fleet.views')}
        value={tab}
        onChange={(next) => query.set({ tab: next === 'fleet' ? null : next })}
        tabs={[
          { key: 'fleet', label: t('fleet.tab') },
          { key: 'enrolment', label: t('fleet.tabEnrolment') },
        ]}
      />
      <TabPanel name={tab}>
        {tab === 'enrolment' ? (
          <EnrolmentTokens query={query} action={enrol} made={made} />
        ) : fleet.error && !fleet.clusters ? (
          <Failure
            title={t('fleet.loadFailed')}
            message={fleet.error.graphQLErrors[0]?.message ?? t('error.network')}
            onRetry={fleet.reload}
          />
        ) : !fleet.clusters ? (
          <div className="flex flex-col gap-4">
            <Skeleton className="h-20 w-full" />
            <Skeleton className="h-96 w-full" />
          </div>
        ) : fleet.clusters.length === 0 ? (
          <Empty icon={<Activity aria-hidden />} title={t('fleet.emptyTitle')} action={enrol}>
            <p>{t('fleet.emptyText')}</p>
          </Empty>
        ) : (
          <FleetView all={fleet.clusters} query={query} />
        )}
      </TabPanel>
      {isEnrolling && <EnrolDialog onClose={() => setEnrolling(false)} onMade={() => setMade((before) => before + 1)} />}
    </>
  )
}
