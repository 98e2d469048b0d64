import { type AlertDelivery, type AlertSnapshot, KINDS, SEVERITIES } from '@muster/core/alerts'

/** An alert message in the parts that all kinds of routes render. */
export type Message = {
  delivery: Pick<AlertDelivery, 'id' | 'event' | 'alerts' | 'createdAt'>
  tenantName: string
  /** URL of the console's alerts page. */
  link: string
}

/** Chat messages list at most this many alerts. */
const MAX_LINES = 20

const lineOf = ({ kind, node, cluster, severity, openedAt, resolvedAt }: AlertSnapshot): string => {
  const what = `${node ? `${node} ` : ''}${KINDS[kind].message}${cluster ? ` (cluster ${cluster})` : ''}`
  return resolvedAt
    ? `resolved: ${what}, from ${shortTime(openedAt)} to ${shortTime(resolvedAt)}`
    : `${severity}: ${what}, since ${shortTime(openedAt)}`
}
const shortTime = (iso: string) => `${iso.slice(0, 16).replace('T', ' ')} UTC`

/** One line: `gpu001 is offline`, or `3 alerts: 2 critical, 1 warning`. */
export function messageTitle({ delivery: { event, alerts } }: Message): string {
  if (event === 'test') return 'This is a test: alerts from Muster arrive here'
  const [first] = alerts
  if (alerts.length === 1) {
    const what = `${first!.node ? `${first!.node} ` : ''}${KINDS[first!.kind].message}`
    return event === 'resolved' ? `Resolved: ${what}` : what
  }
  if (event === 'resolved') return `${alerts.length} alerts are resolved`
  const counts = [...SEVERITIES].reverse().flatMap((severity) => {
    const count = alerts.filter((alert) => alert.severity === severity).length
    return count > 0 ? [`${count} ${severity}`] : []
  })
  return `${alerts.length} alerts: ${counts.join(', ')}`
}

/** One line per alert, most severe first, then the number of alerts that are not listed. */
export function linesOf({ delivery: { alerts } }: Message, maxLines = MAX_LINES): string[] {
  const worstFirst = alerts.toSorted((a, b) => SEVERITIES.indexOf(b.severity) - SEVERITIES.indexOf(a.severity))
  const shown = worstFirst.slice(0, maxLines).map(lineOf)
  return alerts.length > maxLines ? [...shown, `and ${alerts.length - maxLines} more`] : shown
}
