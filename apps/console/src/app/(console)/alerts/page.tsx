'use client'
import { BellOff } from 'lucide-react'
import { useState } from 'react'
import { AlertList } from '@/alerts/alert-list.tsx'
import { RouteList } from '@/alerts/route-list.tsx'
import { SilenceDialog } from '@/alerts/silence-dialog.tsx'
import { SilenceList } from '@/alerts/silence-list.tsx'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { PageHead } from '@/ui/page.tsx'
import { TabPanel, Tabs } from '@/ui/tabs.tsx'
import { useQueryState } from '@/ui/use-query-state.ts'
import { useTitle } from '@/ui/use-title.ts'

const tabs = ['alerts', 'silences', 'routes'] as const
type Tab = (typeof tabs)[number]

/** What people should know of, what they do not want to hear for a while, and how they hear it. */
export default function AlertsPage() {
  useTitle(t('nav.alerts'))
  const query = useQueryState()
  const asked = query.get('tab') as Tab
  const tab = tabs.includes(asked) ? asked : 'alerts'
  const [isSilencing, setSilencing] = useState(false)
  const [made, setMade] = useState(0)
  const onSilenced = () => setMade((before) => before + 1)
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
      />
      <TabPanel name={tab}>
        {tab === 'alerts' && <AlertList query={query} onSilenced={onSilenced} />}
        {tab === 'silences' && <SilenceList made={made} />}
        {tab === 'routes' && <RouteList />}
      </TabPanel>
      {isSilencing && <SilenceDialog onClose={() => setSilencing(false)} onDone={onSilenced} />}
    </>
  )
}
