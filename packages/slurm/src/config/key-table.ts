/** Type of a value. LIST: a line that may be repeated. */
export type ValueType = 'STRING' | 'UINT16' | 'UINT32' | 'UINT64' | 'FLOAT' | 'BOOLEAN' | 'LIST'

/** A key in a range of releases. */
interface KeyEntry {
  key: string
  type: ValueType
  since: number
  /** First release without it. */
  until: number
}
/** Entries by key in lower case: Slurm ignores the case of keys. */
export type KeyTable = ReadonlyMap<string, readonly KeyEntry[]>

/** Builds a table from words by type: `Key`, `Key>=23.11`, `Key<25.11`, `Key>=23.11<25.11`. */
export function keyTable(words: Partial<Record<ValueType, string>>): KeyTable {
  const table = new Map<string, KeyEntry[]>()
  for (const [type, text] of Object.entries(words))
    for (const word of text.split(/\s+/).filter(Boolean)) {
      const [, key, since, until] = /^(\w+)(?:>=([\d.]+))?(?:<([\d.]+))?$/.exec(word)!
      const entry = { key: key!, type: type as ValueType, since: Number(since ?? 0), until: Number(until ?? Infinity) }
      table.set(key!.toLowerCase(), [...(table.get(key!.toLowerCase()) ?? []), entry])
    }
  return table
}

/** The type of a key, or why the release does not know it. */
export function findKey(table: KeyTable, key: string, release: number): { type: ValueType } | { unknown: string } {
  const entries = table.get(key.toLowerCase()) ?? []
  const entry = entries.find(({ since, until }) => release >= since && release < until)
  if (entry) return { type: entry.type }
  const later = entries.find(({ since }) => since > release)
  if (later) return { unknown: `needs Slurm ${later.since.toFixed(2)}` }
  const earlier = entries.at(-1)
  if (earlier) return { unknown: `was removed in Slurm ${earlier.until.toFixed(2)}` }
  return { unknown: 'is not known to Slurm' }
}

const UNSIGNED = /^\+?(0x[0-9a-f]+|\d+)$/i
const MAX = { UINT16: 0xffffn, UINT32: 0xffffffffn, UINT64: 0xffffffffffffffffn }

/** Why Slurm rejects a value of this type; null when it accepts it. */
export function valueProblem(type: ValueType, value: string): string | null {
  if (type === 'STRING' || type === 'LIST') return null
  if (type === 'BOOLEAN')
    return /^(yes|up|true|1|no|down|false|0)$/i.test(value) ? null : `must be YES or NO, not ${JSON.stringify(value)}`
  if (/^(unlimited|infinite)$/i.test(value)) return null
  if (type === 'FLOAT')
    return /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(value) ? null : `must be a number, not ${JSON.stringify(value)}`
  const kilo = type !== 'UINT16' && /k$/i.test(value)
  const digits = kilo ? value.slice(0, -1) : value
  if (!UNSIGNED.test(digits)) return `must be a number from 0 to ${MAX[type]}, not ${JSON.stringify(value)}`
  const unsigned = digits.replace(/^\+/, '')
  // A leading zero is octal, as in C.
  const isOctal = /^0\d/.test(unsigned)
  if (isOctal && /[89]/.test(unsigned)) return `must be a number, not ${JSON.stringify(value)}`
  const number = BigInt(isOctal ? `0o${unsigned.slice(1)}` : unsigned) * (kilo ? 1024n : 1n)
  return number > MAX[type] ? `must be at most ${MAX[type]}` : null
}
