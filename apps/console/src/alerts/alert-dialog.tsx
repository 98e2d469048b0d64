'use client'
import Link from 'next/link'
import { useQuery } from 'urql'
import { formatNumber, t } from '@/messages/index.ts'
import { NodeHealth } from '@/nodes/badges.tsx'
import { clusterHref } from '@/slurm/cluster-card.tsx'
import { Button } from '@/ui/button.tsx'
import { Dialog } from '@/ui/dialog.tsx'
import { JsonTree } from '@/ui/json-tree.tsx'
import { PropertyList } from '@/ui/page.tsx'
import { RelativeTime } from '@/ui/relative-time.tsx'
import { AlertSeverity, AlertState } from './badges.tsx'
import { AlertClusterQuery, AlertQuery, type AlertRow } from './documents.ts'
import { isSlurmEvidence, SlurmEvidenceView } from './slurm-evidence.tsx'

/** Accelerators may be removed on purpose, and nobody may repeat a failed scale-out; all other alerts resolve automatically. */
const isManuallyResolvable = ({ kind, resolvedAt }: AlertRow) =>
  (kind === 'ACCELERATOR_LOST' || kind === 'SLURM_SCALE_OUT_FAILED') && !resolvedAt

/** Without null values and type names. */
const present = (value: unknown): unknown =>
  value !== null && typeof value === 'object'
    ? Object.fromEntries(
        Object.entries(value).flatMap(([key, each]) => (key === '__typename' || each === null ? [] : [[key, present(each)]])),
      )
    : value

/** Details of an alert with its evidence. */
export function AlertDialog({ alert, onClose, onResolve }: { alert: AlertRow; onClose: () => void; onResolve: () => void }) {
  const [{ data }] = useQuery({ query: AlertQuery, variables: { id: alert.id } })
  // An alert keeps the name of its cluster, which may be gone.
  const [{ data: named }] = useQuery({
    query: AlertClusterQuery,
    variables: { name: alert.cluster ?? '' },
    pause: !alert.cluster || alert.node !== null,
  })
  const cluster = named?.slurmCluster
  const clusterLink = cluster ? (
    <Link className="underline underline-offset-2" href={clusterHref(cluster.id)}>
      {cluster.name}
    </Link>
  ) : (
    (alert.cluster ?? t('alerts.allNodes'))
  )
  const evidence = data?.node?.__typename === 'Alert' ? data.node.evidence : null
  return (
    <Dialog
      wide
      title={alert.message}
      onClose={onClose}
      footer={
        isManuallyResolvable(alert) && (
          <Button showReason blockedReason={alert.resolveBlockedReason} onClick={onResolve}>
            {t(alert.kind === 'ACCELERATOR_LOST' ? 'alerts.expected' : 'alerts.resolve')}
          </Button>
        )
      }
    >
      <div className="flex flex-col gap-4">
        <PropertyList
          rows={[
            [t('alerts.severity'), <AlertSeverity key="s" alert={alert} />],
            [t('alerts.state'), <AlertState key="a" alert={alert} />],
            [
              alert.cluster && !alert.node ? t('alerts.cluster') : t('alerts.node'),
              alert.node ? (
                <span key="n" className="flex flex-wrap items-baseline gap-x-2 gap-y-1">
                  <Link className="underline underline-offset-2" href={`/nodes/${encodeURIComponent(alert.node.id)}?tab=agent`}>
                    {alert.node.name}
                  </Link>
                  <NodeHealth health={alert.node.health} showReason />
                </span>
              ) : (
                clusterLink
              ),
            ],
            [t('alerts.opened'), <RelativeTime key="o" at={alert.openedAt} />],
            [t('alerts.last'), <RelativeTime key="l" at={alert.lastSeenAt} />],
            [t('alerts.count'), formatNumber(alert.count)],
            ...(alert.resolvedAt
              ? [[t('alerts.resolved'), <RelativeTime key="r" at={alert.resolvedAt} />] as [string, React.ReactNode]]
              : []),
            ...(alert.acknowledgedAt
              ? [
                  [
                    t('alerts.acknowledgedBy', { name: alert.acknowledgedBy?.name ?? '' }),
                    <span key="k" className="whitespace-pre-line">
                      {alert.acknowledgment || t('common.none')}
                    </span>,
                  ] as [string, React.ReactNode],
                ]
              : []),
          ]}
        />
        <div className="flex flex-col gap-2">
          <h3 className="text-sm font-semibold">{t('alerts.evidence')}</h3>
          <div className="max-h-72 overflow-auto rounded-md bg-sunken p-3">
            {isSlurmEvidence(evidence) ? (
              <SlurmEvidenceView evidence={evidence} />
            ) : (
              <JsonTree value={present(evidence)} search="" />
            )}
          </div>
        </div>
      </div>
    </Dialog>
  )
}
