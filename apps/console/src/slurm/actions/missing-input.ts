import { t } from '@/messages/index.ts'
import type { ActionInput } from './documents.ts'

const isGiven = (value: unknown): boolean => value !== null && value !== undefined && value !== ''

/** What the input lacks for a preview; null when it is complete. */
export function missingInput({ verb, nodes, jobs, reservation, ...input }: ActionInput): string | null {
  const selector = nodes ?? jobs
  if (selector && !Object.values(selector).some(isGiven)) return t('slurmAction.needCondition')
  if (verb === 'UPDATE_JOBS' && !input.unlimitedTime && !isGiven(input.timeLimitMinutes) && !isGiven(input.priority))
    return t('slurmAction.needChange')
  if (verb === 'UPDATE_NODES' && !isGiven(input.features) && !isGiven(input.weight)) return t('slurmAction.needChange')
  if (!reservation) return null
  const { name, ...changes } = reservation
  if (verb === 'UPDATE_RESERVATION') return Object.values(changes).some(isGiven) ? null : t('slurmAction.needChange')
  if (verb !== 'CREATE_RESERVATION') return null
  const isComplete = name && changes.hostlist && changes.durationMinutes && (changes.users ?? changes.accounts)
  return isComplete ? null : t('slurmReservation.needFields')
}
