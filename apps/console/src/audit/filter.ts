import type { useQueryState } from '@/ui/hooks/use-query-state.ts'
import type { AuditFilter } from './documents.ts'

export const auditOutcomes = ['SUCCEEDED', 'DENIED', 'FAILED'] as const
export const auditChannels = ['CONSOLE', 'API', 'CLI', 'AGENT', 'WORKER', 'SYSTEM'] as const
export const auditFilterKeys = [
  'text',
  'actor',
  'address',
  'action',
  'outcome',
  'channel',
  'from',
  'to',
  'object',
  'run',
] as const

type Read = Pick<ReturnType<typeof useQueryState>, 'get'>

/** Midnight of a `YYYY-MM-DD` in the time zone of the browser, plus `days`; undefined when it is not a date. */
function midnight(day: string, days = 0): string | undefined {
  const match = /^(\d{4})-(\d{2})-(\d{2})$/.exec(day)
  if (!match) return undefined
  const date = new Date(Number(match[1]), Number(match[2]) - 1, Number(match[3]) + days)
  return Number.isNaN(date.getTime()) ? undefined : date.toISOString()
}

/** The filter in the URL. `to` is the last day that it includes; unknown values are ignored. */
export function auditFilter({ get }: Read): AuditFilter {
  const outcome = auditOutcomes.find((each) => each === get('outcome'))
  const channel = auditChannels.find((each) => each === get('channel'))
  const [createdAfter, createdBefore] = [midnight(get('from')), midnight(get('to'), 1)]
  return {
    ...(get('text') && { text: get('text') }),
    ...(get('actor') && { actor: get('actor') }),
    ...(get('address') && { address: get('address') }),
    ...(get('action') && { action: [get('action')] }),
    ...(outcome && { outcome: [outcome] }),
    ...(channel && { channel: [channel] }),
    ...(createdAfter && { createdAfter }),
    ...(createdBefore && { createdBefore }),
    ...(get('object') && { objectId: get('object') }),
    ...(get('run') && { runId: get('run') }),
  }
}

/** Actions by their object, for a select: `job_run` -> [`job_run.cancel`, …]. */
export function actionGroups(actions: readonly string[]): [object: string, actions: string[]][] {
  const groups = new Map<string, string[]>()
  for (const action of actions) {
    const object = action.split('.')[0]!
    groups.set(object, [...(groups.get(object) ?? []), action])
  }
  return [...groups]
}
