'use client'
import { Activity, Plus } from 'lucide-react'
import { useState } from 'react'
import { AgentReviewNotice } from '@/agents/agent-review-notice.tsx'
import { EnrollDialog } from '@/agents/enroll-dialog.tsx'
import { EnrollmentTokens } from '@/agents/enrollment-tokens.tsx'
import { FleetView } from '@/agents/fleet-view.tsx'
import { useFleet } from '@/agents/use-fleet.ts'
import { formatNumber, t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { Empty } from '@/ui/empty.tsx'
import { Failure } from '@/ui/failure.tsx'
import { useQueryState } from '@/ui/hooks/use-query-state.ts'
import { useTitle } from '@/ui/hooks/use-title.ts'
import { Notice } from '@/ui/notice.tsx'
import { PageHead } from '@/ui/page.tsx'
import { Skeleton } from '@/ui/skeleton.tsx'
import { Tabs } from '@/ui/tabs.tsx'

/** The fleet with live updates, and enrollment tokens. */
export default function FleetPage() {
  useTitle(t('nav.fleet'))
  const query = useQueryState()
  const fleet = useFleet()
  const tab = query.get('tab') === 'enrollment' ? 'enrollment' : 'fleet'
  const [isEnrolling, setEnrolling] = useState(false)
  const [createdCount, setCreatedCount] = useState(0)
  const total = (fleet.clusters ?? []).reduce((sum, { nodes }) => sum + nodes.length, 0)
  const enroll = (
    <Button variant="primary" icon={<Plus aria-hidden />} onClick={() => setEnrolling(true)}>
      {t('enroll.open')}
    </Button>
  )
  return (
    <>
      <PageHead title={t('nav.fleet')} count={total > 0 ? formatNumber(total) : undefined}>
        {enroll}
      </PageHead>
      <AgentReviewNotice />
      {fleet.suppressedCount > 0 && (
        <div className="pb-3">
          <Notice tone="warn" title={t('fleet.massOutageTitle')}>
            {t('fleet.massOutageText', { count: fleet.suppressedCount })}
          </Notice>
        </div>
      )}
      <Tabs
        label={t('fleet.views')}
        value={tab}
        onChange={(next) => query.set({ tab: next === 'fleet' ? null : next })}
        tabs={[
          { key: 'fleet', label: t('fleet.tab') },
          { key: 'enrollment', label: t('fleet.tabEnrollment') },
        ]}
      >
        {tab === 'enrollment' ? (
          <EnrollmentTokens query={query} action={enroll} createdCount={createdCount} />
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
          <Empty icon={<Activity aria-hidden />} title={t('fleet.emptyTitle')} action={enroll}>
            <p>{t('fleet.emptyText')}</p>
          </Empty>
        ) : (
          <FleetView all={fleet.clusters} query={query} />
        )}
      </Tabs>
      {isEnrolling && (
        <EnrollDialog onClose={() => setEnrolling(false)} onCreated={() => setCreatedCount((before) => before + 1)} />
      )}
    </>
  )
}
