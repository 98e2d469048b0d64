'use client'
import Link from 'next/link'
import { useQuery } from 'urql'
import { t } from '@/messages/index.ts'
import { Button } from '@/ui/button.tsx'
import { Dialog } from '@/ui/dialog.tsx'
import { JsonTree } from '@/ui/json-tree.tsx'
import { Facts } from '@/ui/page.tsx'
import { Ago } from '@/ui/time.tsx'
import { AlertSeverity, AlertState } from './badges.tsx'
import { AlertQuery, type AlertRow } from './documents.ts'

/** Accelerators may have been taken out on purpose; everything else ends by itself. */
const mayStay = (alert: AlertRow) => alert.kind === 'ACCELERATOR_LOST' && !alert.resolvedAt

/** All that is known of one alert, with what was seen. */
export function AlertDialog({ alert, onClose, onEnd }: { alert: AlertRow; onClose: () => void; onEnd: () => void }) {
  const [{ data }] = useQuery({ query: AlertQuery, variables: { id: alert.id } })
  const evidence = data?.node?.__typename === 'Alert' ? data.node.evidence : null
  return (
    <Dialog
      wide
      title={alert.text}
      onClose={onClose}
      footer={
        mayStay(alert) && (
          <Button saysReason blockedReason={alert.endBlockedReason} onClick={onEnd}>
            {t('alerts.end')}
          </Button>
        )
      }
    >
      <div className="flex flex-col gap-4">
        <Facts
          rows={[
            [t('alerts.severity'), <AlertSeverity key="s" alert={alert} />],
            [t('alerts.state'), <AlertState key="a" alert={alert} />],
            [
              t('alerts.node'),
              alert.node ? (
                <Link
                  key="n"
                  className="underline underline-offset-2"
                  href={`/nodes/${encodeURIComponent(alert.node.id)}?tab=agent`}
                >
                  {alert.node.name}
                </Link>
              ) : (
                (alert.cluster ?? t('alerts.wholeTenant'))
              ),
            ],
            [t('alerts.opened'), <Ago key="o" at={alert.openedAt} />],
            [t('alerts.last'), <Ago key="l" at={alert.lastAt} />],
            [t('alerts.count'), t('common.count', { count: alert.count })],
            ...(alert.resolvedAt
              ? [[t('alerts.resolved'), <Ago key="r" at={alert.resolvedAt} />] as [string, React.ReactNode]]
              : []),
            ...(alert.acknowledgedAt
              ? [
                  [
                    t('alerts.acknowledgedBy', { name: alert.acknowledgedByName ?? '' }),
                    <span key="k" className="whitespace-pre-line">
                      {alert.acknowledgement || t('common.none')}
                    </span>,
                  ] as [string, React.ReactNode],
                ]
              : []),
          ]}
        />
        <div className="flex flex-col gap-2">
          <h3 className="text-sm font-semibold">{t('alerts.evidence')}</h3>
          <div className="max-h-72 overflow-auto rounded-md bg-sunken p-3">
            <JsonTree value={evidence} search="" />
          </div>
        </div>
      </div>
    </Dialog>
  )
}
