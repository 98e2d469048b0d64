/** The vendors' ways to say "no value" (lower case, without brackets). */
const MISSING = new Set(
  [
    'n/a|na|-|--||not supported|not found|unknown error|unknown|err!|gpu is lost|gpu requires reset|insufficient permissions',
    'function not found|requested functionality has been deprecated|xxx|could not collect|not available|not active|not applicable',
    'null|undefined|no data',
  ].flatMap((part) => part.split('|')),
)

/** Text without ANSI sequences, with \n line ends and without control characters. */
export const plain = (text: string): string =>
  text
    .replace(/\u001b\[[0-9;?]*[ -/]*[@-~]/g, '')
    .replace(/\r\n?/g, '\n')
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/g, '')

/** A cell as text, or null where the vendor says that there is no value. Accepts what JSON can hold. */
export function known(cell: unknown): string | null {
  if (typeof cell === 'number' || typeof cell === 'boolean') return String(cell)
  if (typeof cell !== 'string') return null
  const text = cell.trim()
  const bare = text
    .replace(/^\[(.*)\]$/, '$1')
    .trim()
    .toLowerCase()
  return MISSING.has(bare) ? null : text
}

/** The same for enumerations in which `None` means that there is no value. */
export const knownOrNone = (cell: unknown): string | null => {
  const text = known(cell)
  return text?.toLowerCase() === 'none' ? null : text
}

/** A uuid or serial; null also for the all-zero and scrubbed ones, which identify nothing. */
export function identity(cell: unknown): string | null {
  const text = knownOrNone(cell)
  return text && /[^0x\s.-]/i.test(text.replace(/^(GPU|PPU|MIG)-/i, '')) ? text : null
}

/** The first number of a cell (`69.85 W`, `42 C`, `0 %`), or null. */
export function number(cell: unknown): number | null {
  const text = known(cell)
  const match = text && /^[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?/i.exec(text)
  const value = match ? Number(match[0]) : Number.NaN
  return Number.isFinite(value) ? value : null
}

/** A count: a whole number, not negative, small enough to be exact. */
export function count(cell: unknown): number | null {
  const value = number(cell)
  return value !== null && value >= 0 && value <= Number.MAX_SAFE_INTEGER ? Math.round(value) : null
}

const UNITS: Record<string, number> = { '': 0, k: 1, m: 2, g: 3, t: 4 }

/** Bytes of `81559 MiB`, `98304MiB`, `17 GB`; a bare number is in `unit`. MB means MiB in every tool, as the vendors' sources say. */
export function bytes(cell: unknown, unit = 'MiB'): number | null {
  const value = number(cell)
  if (value === null || value < 0) return null
  const own = /\d\s*([kmgt]?)i?b(?:ytes)?\s*$/i.exec(String(cell).trim())
  const prefix = (own?.[1] ?? unit.replace(/i?b$/i, '')).toLowerCase()
  const total = Math.round(value * 1024 ** (UNITS[prefix] ?? 0))
  return Number.isSafeInteger(total) ? total : null
}

/** `dddd:bb:dd.f` in lower case of any usual spelling; the domain is kept, 0000 where there is none. */
export function pciAddress(cell: unknown): string | null {
  const match = /^(?:([0-9a-f]{1,8}):)?([0-9a-f]{1,2}):([0-9a-f]{1,2})\.([0-7])$/i.exec(known(cell) ?? '')
  if (!match) return null
  const [, domain = '0', bus, device, fn] = match
  const hex = (text: string | undefined, width: number) =>
    Number.parseInt(text ?? '0', 16)
      .toString(16)
      .padStart(width, '0')
  return `${hex(domain, 4)}:${hex(bus, 2)}:${hex(device, 2)}.${fn}`
}

/** The leading release of `610.57.04 [Deprecated; …]`, null for `Deprecated, see …`. */
export const release = (cell: unknown): string | null => /^\d[\d.]*/.exec(known(cell) ?? '')?.[0] ?? null

/** Enabled/disabled in the vendors' words. */
export function enabled(cell: unknown): 'enabled' | 'disabled' | null {
  const text = known(cell)?.toLowerCase()
  if (!text) return null
  if (/^(enabled?|on|true|yes|active|1)$/.test(text)) return 'enabled'
  return /^(disabled?|off|false|no|0)$/.test(text) ? 'disabled' : null
}

/** No line of any tool is longer, no answer has more of them: a bound for texts that only look like an answer. */
const LONGEST_LINE = 2000
const MOST_LINES = 20_000
/** More devices than a node can hold, all partitions counted. */
export const MOST_DEVICES = 1024

/** The lines of a text, plain. */
export const linesOf = (text: string): string[] =>
  plain(text)
    .split('\n', MOST_LINES)
    .map((line) => line.slice(0, LONGEST_LINE))

/** The first line that says something, cut to a length for people. */
export function firstLine(text: string, pattern = /\S/): string | null {
  const line = linesOf(text).find((candidate) => pattern.test(candidate))
  return line ? line.trim().slice(0, 300) : null
}

/** How many items fulfil a condition, each named once: `NV18` x7 -> `NV18 to 7 peers`. Strongest (most frequent) first. */
export function peers(kinds: string[]): string | null {
  const seen = new Map<string, number>()
  for (const kind of kinds) seen.set(kind, (seen.get(kind) ?? 0) + 1)
  const parts = [...seen].sort((a, b) => b[1] - a[1]).map(([kind, n]) => `${kind} to ${n} ${n === 1 ? 'peer' : 'peers'}`)
  return parts.length ? parts.join(', ') : null
}

/** JSON out of a text with a preamble, a trailer or both; of a text that was cut short, what was complete. undefined if none. */
export function json(text: string): unknown {
  const body = plain(text).replace(/(:\s*)(?:NaN|-?Infinity)\b/g, '$1null')
  const starts: number[] = []
  for (const match of body.matchAll(/^[ \t]{0,40}[{[]/gm)) if (starts.push(match.index + match[0].length - 1) === 8) break
  for (const start of starts.length ? starts : [body.search(/[{[]/)]) {
    if (start < 0) continue
    const { end, closers } = balance(body, start)
    try {
      return JSON.parse(body.slice(start, end) + closers)
    } catch {}
  }
  return undefined
}

/** Where the value that begins at `start` ends: at its own end, or after its last complete part, with what would close it. */
function balance(body: string, start: number): { end: number; closers: string } {
  const walk = (stop: number) => {
    const open: string[] = []
    let lastClose = start
    for (let at = start; at < stop; at++) {
      const char = body[at]
      if (char === '"') {
        for (at++; at < stop && body[at] !== '"'; at++) if (body[at] === '\\') at++
      } else if (char === '{' || char === '[') open.push(char === '{' ? '}' : ']')
      else if (char === '}' || char === ']') {
        open.pop()
        lastClose = at + 1
        if (open.length === 0) break
      }
    }
    return { open, lastClose }
  }
  const whole = walk(body.length)
  if (whole.open.length === 0) return { end: whole.lastClose, closers: '' }
  return { end: whole.lastClose, closers: walk(whole.lastClose).open.reverse().join('') }
}

/** An object to look into, {} for everything else. */
export const record = (value: unknown): Record<string, unknown> =>
  value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Record<string, unknown>) : {}

/** An array to walk over; a single object counts as one element, anything else as none. */
export const list = (value: unknown): unknown[] =>
  Array.isArray(value) ? value.slice(0, MOST_DEVICES) : value !== null && typeof value === 'object' ? [value] : []
