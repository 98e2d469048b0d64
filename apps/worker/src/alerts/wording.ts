import { type AlertDelivery, KINDS, SEVERITIES, type ToldAlert } from '@muster/core/alerts'

/** What a message tells, whichever way it goes. */
export type Message = {
  delivery: Pick<AlertDelivery, 'id' | 'event' | 'alerts' | 'createdAt'>
  tenantName: string
  /** Where people look at alerts. */
  link: string
}

/** More lines than these nobody reads in a chat. */
const MOST_LINES = 20

const lineOf = ({ kind, node, cluster, severity, openedAt, resolvedAt }: ToldAlert): string => {
  const what = `${node ? `${node} ` : ''}${KINDS[kind].says}${cluster ? ` (cluster ${cluster})` : ''}`
  return resolvedAt
    ? `resolved: ${what}, from ${shortTime(openedAt)} to ${shortTime(resolvedAt)}`
    : `${severity}: ${what}, since ${shortTime(openedAt)}`
}
const shortTime = (iso: string) => `${iso.slice(0, 16).replace('T', ' ')} UTC`

/** In one line: `gpu001 is offline`, or `3 alerts: 2 critical, 1 warning`. */
export function titleOf({ delivery: { event, alerts } }: Message): string {
  if (event === 'test') return 'This is a test: alerts of Muster arrive here'
  const [first] = alerts
  if (alerts.length === 1) {
    const what = `${first!.node ? `${first!.node} ` : ''}${KINDS[first!.kind].says}`
    return event === 'resolved' ? `Resolved: ${what}` : what
  }
  if (event === 'resolved') return `${alerts.length} alerts are resolved`
  const counts = [...SEVERITIES].reverse().flatMap((severity) => {
    const count = alerts.filter((alert) => alert.severity === severity).length
    return count > 0 ? [`${count} ${severity}`] : []
  })
  return `${alerts.length} alerts: ${counts.join(', ')}`
}

/** One line an alert, the worst first, and how many are left out. */
export function linesOf({ delivery: { alerts } }: Message, most = MOST_LINES): string[] {
  const worstFirst = alerts.toSorted((a, b) => SEVERITIES.indexOf(b.severity) - SEVERITIES.indexOf(a.severity))
  const shown = worstFirst.slice(0, most).map(lineOf)
  return alerts.length > most ? [...shown, `and ${alerts.length - most} more`] : shown
}
