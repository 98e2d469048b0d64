import { t } from '@/messages/index.ts'
import { Badge, State, type Tone } from '@/ui/badge.tsx'
import type { AlertRow } from './documents.ts'

export const severities = ['CRITICAL', 'WARNING', 'INFO'] as const satisfies readonly AlertRow['severity'][]
export const alertKinds = [
  'STALE',
  'OFFLINE',
  'RECOVERED',
  'ANOMALY',
  'SEQUENCE_GAP',
  'KEY_CHANGED',
  'KEY_SHARED',
  'FINGERPRINT_CHANGED',
  'CLOCK_SKEW',
  'ACCELERATOR_LOST',
  'ACCELERATOR_COUNT_CHANGED',
  'MASS_OUTAGE',
  'BOOT_STUCK',
  'BOOT_NO_FETCH',
  'BOOT_TOKEN_REFUSED',
  'AUDIT_SINK_BEHIND',
  'OPENCHAMI_OUT_OF_SYNC',
  'SCHEDULE_FAILED',
  'SLURM_CONTROLLER_SILENT',
  'SLURM_NODES_DRAINED',
  'SLURM_NODES_INVALID',
  'SLURM_GRES_MISMATCH',
  'SLURM_RESUME_FAILED',
  'SLURM_SCALE_OUT_FAILED',
] as const satisfies readonly AlertRow['kind'][]

const tones: Record<AlertRow['severity'], Tone> = { CRITICAL: 'bad', WARNING: 'warn', INFO: 'neutral' }

/** The severity of an alert; gray once resolved. */
export function AlertSeverity({ alert }: { alert: Pick<AlertRow, 'severity' | 'resolvedAt'> }) {
  return <State tone={alert.resolvedAt ? 'neutral' : tones[alert.severity]}>{t(`alertSeverity.${alert.severity}`)}</State>
}

/** Open, acknowledged or resolved. */
export function AlertState({ alert }: { alert: Pick<AlertRow, 'resolvedAt' | 'acknowledgedAt' | 'acknowledgedBy'> }) {
  if (alert.resolvedAt) return <Badge tone="ok">{t('alerts.resolved')}</Badge>
  if (alert.acknowledgedAt)
    return (
      <Badge tone="accent" title={t('alerts.acknowledgedBy', { name: alert.acknowledgedBy?.name ?? '' })}>
        {t('alerts.acknowledged')}
      </Badge>
    )
  return <Badge tone="warn">{t('alerts.open')}</Badge>
}
