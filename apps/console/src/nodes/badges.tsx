import clsx from 'clsx'
import { TriangleAlert } from 'lucide-react'
import { formatBytes } from '@/messages/format.ts'
import { t } from '@/messages/index.ts'
import { Badge, State, type Tone } from '@/ui/badge.tsx'
import type { NodeRow } from './documents.ts'

const statusTones: Record<NodeRow['status'], Tone> = {
  NEW: 'accent',
  READY: 'ok',
  UNREACHABLE: 'bad',
  MAINTENANCE: 'warn',
  DECOMMISSIONED: 'neutral',
}
export const healthTones: Record<NodeRow['acceleratorSummary'][number]['worstHealth'], Tone> = {
  OK: 'ok',
  WARNING: 'warn',
  CRITICAL: 'bad',
  LOST: 'bad',
  UNKNOWN: 'neutral',
}

/** A node's status with its reason as title, and an icon for a changed host key. */
export function NodeStatus({ node }: { node: Pick<NodeRow, 'status' | 'statusReason' | 'hostKeyAlarm'> }) {
  return (
    <span className="inline-flex items-center gap-2">
      <State tone={statusTones[node.status]} title={node.statusReason ?? undefined}>
        {t(`nodeStatus.${node.status}`)}
      </State>
      {node.hostKeyAlarm?.isChanged && (
        <span title={t('hostKey.changedShort')}>
          <TriangleAlert className="size-3.5 text-bad" aria-label={t('hostKey.changedShort')} />
        </span>
      )}
    </span>
  )
}

const overallTones: Record<NodeRow['health']['status'], Tone> = {
  HEALTHY: 'ok',
  DEGRADED: 'warn',
  UNHEALTHY: 'bad',
  UNKNOWN: 'neutral',
}

/** Overall health of a node, with its reason as title or, with `showReason`, as text. Lists on a phone show only abnormal health. */
export function NodeHealth({ health, showReason = false }: { health: NodeRow['health']; showReason?: boolean }) {
  return (
    <span
      className={clsx('inline-flex min-w-0 items-baseline gap-2', !showReason && health.status === 'HEALTHY' && 'max-md:hidden')}
      data-testid="node-health"
    >
      <Badge tone={overallTones[health.status]} title={health.reason ?? undefined}>
        {t(`nodeHealth.${health.status}`)}
      </Badge>
      {showReason && health.reason && <span className="min-w-0 text-muted">{health.reason}</span>}
    </span>
  )
}

/** "8× H100 80GB HBM3", colored only when a device is unhealthy. */
export function AcceleratorBadges({ summary }: { summary: NodeRow['acceleratorSummary'] }) {
  return (
    <span className="flex min-w-0 gap-1.5 overflow-hidden">
      {summary.map((group) => {
        const isHealthy = group.worstHealth === 'OK' || group.worstHealth === 'UNKNOWN'
        // Vendor names include trademark signs, which take space.
        const name = group.model?.replace(/\((R|TM)\)/g, '') ?? t(`deviceType.${group.deviceType}`)
        const title = `${t(`deviceType.${group.deviceType}`)} · ${name}${group.memoryTotalBytes ? ` · ${formatBytes(group.memoryTotalBytes)}` : ''} · ${t(`health.${group.worstHealth}`)}`
        return (
          <Badge
            key={`${group.deviceType} ${group.model}`}
            tone={isHealthy ? 'neutral' : healthTones[group.worstHealth]}
            title={title}
          >
            <span className="tabular-nums">{t('nodes.times', { count: group.count })}</span>
            <span className="truncate">{name}</span>
          </Badge>
        )
      })}
    </span>
  )
}

/** Name and version of an operating system; the name may already include the version. */
export function formatOs({ os }: Pick<NodeRow, 'os'>): string {
  if (!os?.name) return t('common.none')
  return os.version && !os.name.includes(os.version) ? `${os.name} ${os.version}` : os.name
}

/** Formats an address: IPv6 in brackets, the port unless it is 22. */
export function formatAddress(host: string, port: number): string {
  if (port === 22) return host
  return host.includes(':') ? `[${host}]:${port}` : `${host}:${port}`
}
