import { FIELDS } from './fields.ts'
import type { Heartbeat } from './heartbeat.ts'
import type { Auth } from './sign.ts'

/** Encodes the bytes to sign: compact JSON in the format of Go's json.Marshal, with keys in the order of FIELDS. */
export function encodeHeartbeat(heartbeat: Heartbeat): Uint8Array<ArrayBuffer> {
  const ordered = orderKeys(heartbeat, FIELDS['']!)
  for (const [section, fields] of Object.entries(FIELDS)) {
    const value = ordered[section]
    if (section && value && typeof value === 'object') ordered[section] = orderKeys(value as Record<string, unknown>, fields)
  }
  return encode(ordered)
}

/** Builds the request body around the signed bytes without re-encoding them. */
export function envelope(signed: Uint8Array, auth: Auth): Uint8Array<ArrayBuffer> {
  return Buffer.concat([Buffer.from('{"heartbeat":'), signed, Buffer.from(',"auth":'), encode(auth), Buffer.from('}')])
}

/** Formats RFC 3339 in UTC without trailing zeros, like Go's time.Time. */
export function formatGoTime(date: Date): string {
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
  // JSON syntax uses none of the escaped characters, so they occur only inside strings.
  const json = JSON.stringify(value, (_, member) => (typeof member === 'string' ? member.toWellFormed() : member))
  return Buffer.from(json.replace(/[<>&\u2028\u2029]/g, (char) => ESCAPED[char]!))
}

function orderKeys(value: Record<string, unknown>, fields: readonly string[]): Record<string, unknown> {
  const known = fields.filter((field) => value[field] !== undefined).map((field) => [field, value[field]])
  return { ...Object.fromEntries(known), ...value }
}
