'use client'
import { BellOff } from 'lucide-react'
import { useState } from 'react'
import { AlertList } from '@/alerts/alert-list.tsx'
import { RouteList } from '@/alerts/route-list.tsx'
import { SilenceDialog } from '@/alerts/silence-dialog.tsx'
import { SilenceList } from '@/alerts/silence-list.tsx'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { useQueryState } from '@/ui/hooks/use-query-state.ts'
import { useTitle } from '@/ui/hooks/use-title.ts'
import { PageHead } from '@/ui/page.tsx'
import { Tabs } from '@/ui/tabs.tsx'

const tabs = ['alerts', 'silences', 'routes'] as const
type Tab = (typeof tabs)[number]

/** Alerts, silences and notification routes. */
export default function AlertsPage() {
  useTitle(t('nav.alerts'))
  const query = useQueryState()
  const requested = query.get('tab') as Tab
  const tab = tabs.includes(requested) ? requested : 'alerts'
  const [isSilencing, setSilencing] = useState(false)
  const [createdCount, setCreatedCount] = useState(0)
  const onSilenceCreated = () => setCreatedCount((before) => before + 1)
  return (
    <>
      <PageHead title={t('nav.alerts')}>
        <Button icon={<BellOff aria-hidden />} onClick={() => setSilencing(true)}>
          {t('silences.new')}
        </Button>
      </PageHead>
      <Tabs
        label={t('alerts.views')}
        value={tab}
        onChange={(next) => query.set({ tab: next === 'alerts' ? null : next })}
        tabs={[
          { key: 'alerts', label: t('alerts.tab') },
          { key: 'silences', label: t('alerts.tabSilences') },
          { key: 'routes', label: t('alerts.tabRoutes') },
        ]}
      >
        {tab === 'alerts' && <AlertList query={query} onSilenceCreated={onSilenceCreated} />}
        {tab === 'silences' && <SilenceList createdCount={createdCount} />}
        {tab === 'routes' && <RouteList />}
      </Tabs>
      {isSilencing && <SilenceDialog onClose={() => setSilencing(false)} onDone={onSilenceCreated} />}
    </>
  )
}
