import { formatDuration } from '@/messages/format.ts'
import { t } from '@/messages/index.ts'

const formatters: Record<string, (value: never) => string | null> = {
  // Redundant with the silence and the time of the change.
  receivedAt: () => null,
  // Below a second the agent has just resumed; the previous state shows that.
  silentS: (seconds: number) => (seconds < 1 ? null : t('evidence.silentS', { time: formatDuration(seconds * 1000) })),
  bootEpoch: () => null,
  sequence: (number: number) => t('evidence.sequence', { number }),
  slurmState: (state: string) => t('evidence.slurmState', { state }),
  runningJobs: (count: number) => t('evidence.runningJobs', { count }),
  drainedBy: (name: string) => t('evidence.drainedBy', { name }),
  drainReason: (reason: string) => t('evidence.reason', { reason }),
  isHeld: () => t('evidence.isHeld'),
  by: (name: string) => t('evidence.by', { name }),
  why: (reason: string) => t('evidence.reason', { reason }),
  seenFrom: (address: string) => t('evidence.seenFrom', { address }),
}

/** The evidence of a state change in one line. Unknown fields are shown by name. */
export function evidenceText(evidence: unknown): string {
  if (typeof evidence !== 'object' || evidence === null) return ''
  return Object.entries(evidence)
    .filter(([, value]) => value !== null)
    .flatMap(([key, value]) =>
      Object.hasOwn(formatters, key) ? (formatters[key]?.(value as never) ?? []) : unknownField(key, value),
    )
    .join(' · ')
}

/** `skewMs 12` -> `skew ms: 12`. */
function unknownField(key: string, value: unknown): string {
  const name = key.replace(/([a-z0-9])([A-Z])/g, '$1 $2').replaceAll('_', ' ')
  return t('evidence.other', {
    name: name.toLowerCase(),
    value: typeof value === 'object' ? JSON.stringify(value) : String(value),
  })
}
