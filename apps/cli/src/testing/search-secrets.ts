import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { gunzipSync } from 'node:zlib'
import { dumpDatabase } from '../../../../packages/core/src/testing/index.ts'

export type Canary = { kind: string; value: string }
/** Text to search, and where it is from. */
export type Place = { name: string; text: string }

/** A secret as it could appear: raw, in base64 at each of three alignments, URL- and JSON-escaped, and in hexadecimal. */
export function formsOf(value: string): string[] {
  const bytes = Buffer.from(value)
  const base64 = [0, 1, 2].map((offset) =>
    Buffer.concat([Buffer.alloc(offset), bytes])
      .toString('base64')
      // Characters that also depend on bytes before or after the secret.
      .slice(Math.ceil((offset * 8) / 6), Math.floor(((offset + bytes.length) * 8) / 6)),
  )
  const urlSafe = base64.map((text) => text.replaceAll('+', '-').replaceAll('/', '_'))
  return [
    ...new Set([
      value,
      ...base64,
      ...urlSafe,
      encodeURIComponent(value),
      JSON.stringify(value).slice(1, -1),
      bytes.toString('hex'),
    ]),
  ]
}

/** Where secrets appear: `KIND in PLACE`. */
export function findSecrets(canaries: Canary[], places: Iterable<Place>): string[] {
  const forms = canaries.flatMap(({ kind, value }) => formsOf(value).map((form) => ({ kind, form })))
  const found = new Set<string>()
  for (const { name, text } of places)
    for (const { kind, form } of forms) if (text.includes(form)) found.add(`${kind} in ${name}`)
  return [...found]
}

/** Every row of every table as text, the queue included. Compressed values are also shown uncompressed. */
export const databasePlaces = async (url: string): Promise<Place[]> =>
  (await dumpDatabase(url)).map(({ table, rows }) => ({
    name: `table ${table}`,
    text: rows.map((row) => row + uncompressed(row)).join('\n'),
  }))

const uncompressed = (text: string): string =>
  [...text.matchAll(/\\x(1f8b[0-9a-f]+)/g)].map(([, hex]) => plain(Buffer.from(hex!, 'hex'))).join('\n')

function plain(content: Buffer): string {
  try {
    return content[0] === 0x1f && content[1] === 0x8b ? gunzipSync(content).toString('utf8') : content.toString('utf8')
  } catch {
    return content.toString('latin1')
  }
}

/** Every file below a folder, uncompressed, except those named in `allowed`. */
export const readFiles = (folder: string, allowed: readonly string[] = []): Place[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile() && !allowed.includes(entry.name))
    .map((entry) => path.join(entry.parentPath, entry.name))
    .map((file) => ({ name: `file ${path.relative(folder, file)}`, text: plain(readFileSync(file)) }))
