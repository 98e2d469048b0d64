const UUID = /[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}/gi
const BASE64 = /[A-Za-z0-9+/_-]{16,}={0,2}/g
const TIME = /\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z/g

export type Foreign = { marker: string; ids: ReadonlySet<string> }

/** The first name or ID of the other tenant in `text`, also in encoded form; null when there is none. `known` is what the caller sent. */
export function foreignBytes(text: string, { marker, ids }: Foreign, known: string[] = []): string | null {
  const plain = hide(text, known)
  for (const part of [plain, ...(plain.match(BASE64) ?? []).map((token) => Buffer.from(token, 'base64').toString('latin1'))]) {
    const lower = part.toLowerCase()
    const at = lower.indexOf(marker)
    if (at >= 0) return part.slice(Math.max(0, at - 60), at + 60)
    for (const [id] of lower.matchAll(UUID)) if (ids.has(id)) return id
  }
  return null
}

/** Replaces what the caller sent: each value, and the row ID in each global ID. */
export function hide(text: string, known: string[]): string {
  const values = known.flatMap((value) => [value, ...(Buffer.from(value, 'base64').toString('latin1').match(UUID) ?? [])])
  return values.sort((a, b) => b.length - a.length).reduce((result, value) => result.replaceAll(value, '*'), text)
}

/** What two answers must have in common: without the values that the caller sent, generated IDs, names and times. */
export const normalized = (text: string, known: string[]): string =>
  hide(text, known)
    .replace(BASE64, (token) => (UUID.test(Buffer.from(token, 'base64').toString('latin1')) ? '*' : token))
    .replace(UUID, '*')
    .replace(TIME, '*')
    .replace(/in \d+ s\b/g, '*')
    .replace(/expires=\d+|signature=[\w-]+/g, '*')
    .replace(/made-?\d+/g, '*')
    // A hash of the names in the request.
    .replace(/"fingerprint":"[\w-]{22,24}"/g, '*')

/** All IDs in rows as text. */
export const idsIn = (rows: string[]): Set<string> => new Set(rows.flatMap((row) => row.toLowerCase().match(UUID) ?? []))
