import { formatDuration } from '@/messages/format.ts'
import { t } from '@/messages/index.ts'
import type { AgentDetails } from './agent-documents.ts'

type Evidence = AgentDetails['transitions'][number]['evidence']

/** The evidence of a state change in one line. */
export function evidenceText(evidence: Evidence): string {
  const { silentSeconds, sequence, slurmState, runningJobs, drainRequestedBy, drainReason, requestedBy, reason, seenFrom } =
    evidence
  return [
    // Below a second the agent has just resumed; the previous state shows that.
    silentSeconds !== null && silentSeconds >= 1 && t('evidence.silent', { time: formatDuration(silentSeconds * 1000) }),
    sequence !== null && t('evidence.sequence', { number: sequence }),
    evidence.rejectionCode !== null &&
      t('evidence.rejected', { count: evidence.rejectionCount ?? 1, code: evidence.rejectionCode }),
    slurmState !== null && t('evidence.slurmState', { state: slurmState }),
    runningJobs !== null && t('evidence.runningJobs', { count: runningJobs }),
    drainRequestedBy && t('evidence.drainRequestedBy', { name: drainRequestedBy.name }),
    drainReason !== null && t('evidence.reason', { reason: drainReason }),
    evidence.isOfflineSuppressed && t('evidence.massOutage'),
    requestedBy && t('evidence.by', { name: requestedBy.name }),
    reason !== null && t('evidence.reason', { reason }),
    seenFrom !== null && t('evidence.seenFrom', { address: seenFrom }),
  ]
    .filter(Boolean)
    .join(' · ')
}
