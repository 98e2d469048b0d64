import { sql } from 'drizzle-orm'
import { computeNodes } from '../nodes/tables.ts'

/** Serial number and UUID of a node by its last discovery; as the indexes of the table have them. */
export const NODE_SERIAL = sql<string | null>`left(${computeNodes.facts} -> 'dmi' ->> 'serial', 128)`
export const NODE_UUID = sql<string | null>`lower(left(${computeNodes.facts} -> 'dmi' ->> 'uuid', 128))`

/** False for texts that machines report instead of a serial number or UUID. */
export const isUsable = (text: string | null | undefined): text is string =>
  text !== null &&
  text !== undefined &&
  text.length >= 4 &&
  !/^(0|f|-|x|\s)+$/i.test(text) &&
  !/default|not specified|to be filled|none/i.test(text)

/** Some BMCs write the first three fields of a UUID in the other byte order. */
export function uuidForms(uuid: string): string[] {
  const [a, b, c, ...rest] = uuid.toLowerCase().split('-')
  const swap = (field = '') => (field.match(/../g) ?? []).reverse().join('')
  return [uuid.toLowerCase(), [swap(a), swap(b), swap(c), ...rest].join('-')]
}
