'use client'
import Link from 'next/link'
import { useMemo } from 'react'
import { useQuery } from 'urql'
import { t } from '@/messages/index.ts'
import { nodesOf, nodesParam } from '@/nodes/remembered.ts'
import { BulkForm } from '@/onboarding/bulk-form.tsx'
import { DiscoveryStep } from '@/onboarding/discovery-step.tsx'
import { LabOfferQuery } from '@/onboarding/documents.ts'
import { LabPanel } from '@/onboarding/lab-panel.tsx'
import { PreflightStep } from '@/onboarding/preflight-step.tsx'
import { SingleForm } from '@/onboarding/single-form.tsx'
import { Steps } from '@/onboarding/steps.tsx'
import { useViewer } from '@/session/viewer.tsx'
import { PageHead } from '@/ui/page.tsx'
import { TabPanel, Tabs } from '@/ui/tabs.tsx'
import { useQueryState } from '@/ui/use-query-state.ts'
import { useTitle } from '@/ui/use-title.ts'

/**
 * From an address to a node one can use: add, test, look. The step and its nodes stand in the URL, so that a reload stays in the step,
 * back leaves it, and other pages lead into it.
 */
export default function AddNodesPage() {
  useTitle(t('nodes.add'))
  const query = useQueryState()
  const viewer = useViewer()
  const mode = query.get('mode') === 'bulk' ? 'bulk' : 'single'
  const [{ data }] = useQuery({ query: LabOfferQuery, requestPolicy: 'cache-and-network' })
  const param = query.get('nodes')
  const nodeIds = useMemo(() => nodesOf(param), [param])
  const step = nodeIds.length === 0 ? 1 : query.get('step') === 'look' ? 3 : 2
  const goTo = (step: 'test' | 'look') => (ids: string[]) => query.go({ step, nodes: nodesParam(ids) })
  const blocked = viewer.role === 'OWNER' || viewer.role === 'ADMIN' ? null : t('role.adminNeeded')
  return (
    <div className="max-w-3xl">
      <PageHead
        title={t('nodes.add')}
        above={
          <Link href="/nodes" className="hover:underline">
            {t('nav.nodes')}
          </Link>
        }
      />
      <Steps at={step} />
      {step === 1 && (
        <>
          {data?.labOffer && <LabPanel offer={data.labOffer} onAdded={goTo('test')} blockedReason={blocked} />}
          <Tabs
            label={t('wizard.mode')}
            value={mode}
            onChange={(next) => query.set({ mode: next === 'bulk' ? 'bulk' : null })}
            tabs={[
              { key: 'single', label: t('wizard.single') },
              { key: 'bulk', label: t('wizard.bulk') },
            ]}
          />
          <TabPanel name={mode}>
            {mode === 'bulk' ? (
              <BulkForm onAdded={goTo('test')} blockedReason={blocked} />
            ) : (
              <SingleForm onAdded={goTo('test')} blockedReason={blocked} />
            )}
          </TabPanel>
        </>
      )}
      {step === 2 && <PreflightStep key={param} nodeIds={nodeIds} onReady={goTo('look')} />}
      {step === 3 && <DiscoveryStep key={param} nodeIds={nodeIds} />}
    </div>
  )
}
