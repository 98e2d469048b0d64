import type { ChainRow } from '@muster/core/audit'

/** Facility 13, log audit: RFC 5424, section 6.2.1. */
const FACILITY = 13
/** Severities: informational and warning. */
const SEVERITY = { succeeded: 6, denied: 4, failed: 4 } as const
/** Names of parameters need the number of an enterprise; Muster has none, so this is the one of examples (RFC 5612). */
const SD_ID = 'muster@32473'
/** Receivers should accept this many bytes: RFC 5425, section 4.3.1. */
const MAX_BYTES = 8192
const MAX_PARAM = 255
const MAX_MSGID = 32

/** Names of structured data and the columns that they show, in this order. */
const PARAMS = {
  id: 'id',
  seq: 'seq',
  tenantId: 'tenantId',
  actorKind: 'actorKind',
  actorId: 'actorId',
  actor: 'actorName',
  action: 'action',
  objectId: 'objectId',
  object: 'objectName',
  outcome: 'outcome',
  count: 'count',
  channel: 'channel',
  address: 'address',
  permission: 'permission',
  sessionId: 'sessionId',
  requestId: 'requestId',
  runId: 'runId',
  hash: 'hash',
} as const satisfies Record<string, keyof ChainRow>

/**
 * An audit entry as a message of RFC 5424. The structured data identifies it; the text is JSON in ASCII with the rest. Texts that
 * exceed the limit of a message are left out: `isCut` is then true.
 * @param hostname of the installation
 */
export function syslogMessage(entry: ChainRow, tenantName: string, hostname: string): string {
  const params = Object.entries(PARAMS).map(([name, column]) => [name, entry[column]] as const)
  const data = [...params.slice(0, 3), ['tenant', tenantName] as const, ...params.slice(3)]
    .filter(([, value]) => value !== null)
    .map(([name, value]) => ` ${name}="${paramValue(String(value))}"`)
    .join('')
  const priority = FACILITY * 8 + SEVERITY[entry.outcome]
  const msgid = entry.action.replace(/[^\x21-\x7e]/g, '?').slice(0, MAX_MSGID)
  const head = `<${priority}>1 ${entry.createdAt} ${hostname} muster - ${msgid} [${SD_ID}${data}] `
  const { reason, error, details, before, after, userAgent } = entry
  const whole = head + asciiJson({ reason, error, userAgent, details, before, after })
  if (Buffer.byteLength(whole) <= MAX_BYTES) return whole
  const rest = { reason: reason?.slice(0, MAX_PARAM) ?? null, error: error?.slice(0, MAX_PARAM) ?? null, isCut: true }
  return head + asciiJson(rest)
}

/** Octet counting: RFC 5425, section 4.3. */
export const framed = (message: string): string => `${Buffer.byteLength(message)} ${message}`

/** Control characters could end the line of a log file. */
const paramValue = (text: string): string =>
  text
    .slice(0, MAX_PARAM)
    .replace(/\p{Cc}/gu, ' ')
    .replace(/["\\\]]/g, '\\$&')

/** Without null values. A text in ASCII needs no byte order mark. */
const asciiJson = (fields: Record<string, unknown>): string =>
  JSON.stringify(Object.fromEntries(Object.entries(fields).filter(([, value]) => value != null))).replace(
    /[^\x20-\x7e]/g,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )
