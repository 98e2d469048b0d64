import { t } from '@/messages/index.ts'

type Key = Parameters<typeof t>[0] & `slurmReason.${string}`

/** Slurm's word for why a job waits or ended, in plain words; null when there are none for it. */
export function jobReasonText(reason: string | null): string | null {
  if (!reason) return null
  // `ReqNodeNotAvail, UnavailableNodes:gpu01` has details after the word.
  const word = /^\w+/.exec(reason)?.[0] ?? ''
  const key = `slurmReason.${word}` as Key
  if (t.has(key)) return t(key)
  if (word.startsWith('QOS')) return t('slurmReason.qosLimit')
  if (word.startsWith('Assoc')) return t('slurmReason.accountLimit')
  return null
}
