import { FIELDS } from './fields.ts'
import type { Heartbeat } from './heartbeat.ts'
import type { Auth } from './sign.ts'

/** The bytes that are signed: compact JSON as Go's json.Marshal writes it, keys in the order of the field agent's structs. */
export function encodeHeartbeat(heartbeat: Heartbeat): Uint8Array<ArrayBuffer> {
  const ordered = inOrder(heartbeat, FIELDS['']!)
  for (const [section, fields] of Object.entries(FIELDS)) {
    const value = ordered[section]
    if (section && value && typeof value === 'object') ordered[section] = inOrder(value as Record<string, unknown>, fields)
  }
  return encode(ordered)
}

/** The body of a request. The signed bytes go into it as they are. */
export function envelope(signed: Uint8Array, auth: Auth): Uint8Array<ArrayBuffer> {
  return Buffer.concat([Buffer.from('{"heartbeat":'), signed, Buffer.from(',"auth":'), encode(auth), Buffer.from('}')])
}

/** RFC 3339 in UTC without trailing zeros, as Go's time.Time is written. */
export function goTime(date: Date): string {
  return date.toISOString().replace(/\.?0*Z$/, 'Z')
}

const ESCAPED: Record<string, string> = {
  '\u2028': '\\u2028',
  '\u2029': '\\u2029',
  '<': '\\u003c',
  '>': '\\u003e',
  '&': '\\u0026',
}

function encode(value: unknown): Uint8Array<ArrayBuffer> {
  // JSON's own signs are none of these, so they stand only inside strings.
  const json = JSON.stringify(value, (_, each) => (typeof each === 'string' ? each.toWellFormed() : each))
  return Buffer.from(json.replace(/[<>&\u2028\u2029]/g, (sign) => ESCAPED[sign]!))
}

function inOrder(value: Record<string, unknown>, fields: readonly string[]): Record<string, unknown> {
  const known = fields.filter((field) => value[field] !== undefined).map((field) => [field, value[field]])
  return { ...Object.fromEntries(known), ...value }
}
