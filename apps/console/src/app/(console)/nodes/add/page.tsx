'use client'
import Link from 'next/link'
import { useMemo } from 'react'
import { useQuery } from 'urql'
import { useBlockedReason } from '@/access/viewer.tsx'
import { t } from '@/messages/index.ts'
import { BulkForm } from '@/nodes/add/bulk-form.tsx'
import { DiscoveryStep } from '@/nodes/add/discovery-step.tsx'
import { LabOfferQuery } from '@/nodes/add/documents.ts'
import { LabPanel } from '@/nodes/add/lab-panel.tsx'
import { PreflightStep } from '@/nodes/add/preflight-step.tsx'
import { SingleForm } from '@/nodes/add/single-form.tsx'
import { Steps } from '@/nodes/add/steps.tsx'
import { parseNodesParam, toNodesParam } from '@/nodes/selection-store.ts'
import { useQueryState } from '@/ui/hooks/use-query-state.ts'
import { useTitle } from '@/ui/hooks/use-title.ts'
import { PageHead } from '@/ui/page.tsx'
import { Tabs } from '@/ui/tabs.tsx'

/**
 * The wizard that adds nodes: add, test, discover. The step and its nodes are in the URL, so that reload and back work and other pages
 * can link to a step.
 */
export default function AddNodesPage() {
  useTitle(t('nodes.add'))
  const query = useQueryState()
  const mode = query.get('mode') === 'bulk' ? 'bulk' : 'single'
  const [{ data }] = useQuery({ query: LabOfferQuery, requestPolicy: 'cache-and-network' })
  const param = query.get('nodes')
  const nodeIds = useMemo(() => parseNodesParam(param), [param])
  const step = nodeIds.length === 0 ? 1 : query.get('step') === 'discover' ? 3 : 2
  const goTo = (step: 'test' | 'discover') => (ids: string[]) => query.go({ step, nodes: toNodesParam(ids) })
  const blocked = useBlockedReason('node:write')
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
          >
            {mode === 'bulk' ? (
              <BulkForm onAdded={goTo('test')} blockedReason={blocked} />
            ) : (
              <SingleForm onAdded={goTo('test')} blockedReason={blocked} />
            )}
          </Tabs>
        </>
      )}
      {step === 2 && <PreflightStep key={param} nodeIds={nodeIds} onReady={goTo('discover')} />}
      {step === 3 && <DiscoveryStep key={param} nodeIds={nodeIds} />}
    </div>
  )
}
