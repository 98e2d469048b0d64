/** Vendors' markers for a missing value, in lower case and without brackets. */
const MISSING = new Set(
  [
    'n/a|na|-|--||not supported|not found|unknown error|unknown|err!|gpu is lost|gpu requires reset|insufficient permissions',
    'function not found|requested functionality has been deprecated|xxx|could not collect|not available|not active|not applicable',
    'null|undefined|no data',
  ].flatMap((part) => part.split('|')),
)

/** Removes ANSI sequences and control characters, and normalizes line ends. */
export const stripControl = (text: string): string =>
  text
    .replace(/\u001b\[[0-9;?]*[ -/]*[@-~]/g, '')
    .replace(/\r\n?/g, '\n')
    .replace(/[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f]/g, '')

/** Parses a cell or JSON value as text; null for missing-value markers. */
export function parseText(cell: unknown): string | null {
  if (typeof cell === 'number' || typeof cell === 'boolean') return String(cell)
  if (typeof cell !== 'string') return null
  const text = cell.trim()
  const bare = text
    .replace(/^\[(.*)\]$/, '$1')
    .trim()
    .toLowerCase()
  return MISSING.has(bare) ? null : text
}

/** Like parseText, and also null for `None`. */
export const parseTextOrNone = (cell: unknown): string | null => {
  const text = parseText(cell)
  return text?.toLowerCase() === 'none' ? null : text
}

/** Parses a UUID or serial; null for all-zero and scrubbed values. */
export function parseIdentity(cell: unknown): string | null {
  const text = parseTextOrNone(cell)
  return text && /[^0x\s.-]/i.test(text.replace(/^(GPU|PPU|MIG)-/i, '')) ? text : null
}

/** Parses the leading number of a cell such as `69.85 W`, `42 C` or `0 %`. */
export function parseNumber(cell: unknown): number | null {
  const text = parseText(cell)
  const match = text && /^[+-]?\d+(?:\.\d+)?(?:e[+-]?\d+)?/i.exec(text)
  const value = match ? Number(match[0]) : Number.NaN
  return Number.isFinite(value) ? value : null
}

/** Parses a non-negative integer within the exact range of a double. */
export function parseCount(cell: unknown): number | null {
  const value = parseNumber(cell)
  return value !== null && value >= 0 && value <= Number.MAX_SAFE_INTEGER ? Math.round(value) : null
}

const UNITS: Record<string, number> = { '': 0, k: 1, m: 2, g: 3, t: 4 }

/** Parses `81559 MiB`, `98304MiB` or `17 GB` to bytes; `unit` applies to bare numbers. MB means MiB in all vendor tools. */
export function parseBytes(cell: unknown, unit = 'MiB'): number | null {
  const value = parseNumber(cell)
  if (value === null || value < 0) return null
  const own = /\d\s*([kmgt]?)i?b(?:ytes)?\s*$/i.exec(String(cell).trim())
  const prefix = (own?.[1] ?? unit.replace(/i?b$/i, '')).toLowerCase()
  const total = Math.round(value * 1024 ** (UNITS[prefix] ?? 0))
  return Number.isSafeInteger(total) ? total : null
}

/** Normalizes a PCI address to `dddd:bb:dd.f` in lower case; the default domain is 0000. */
export function parsePciAddress(cell: unknown): string | null {
  const match = /^(?:([0-9a-f]{1,8}):)?([0-9a-f]{1,2}):([0-9a-f]{1,2})\.([0-7])$/i.exec(parseText(cell) ?? '')
  if (!match) return null
  const [, domain = '0', bus, device, fn] = match
  const hex = (text: string | undefined, width: number) =>
    Number.parseInt(text ?? '0', 16)
      .toString(16)
      .padStart(width, '0')
  return `${hex(domain, 4)}:${hex(bus, 2)}:${hex(device, 2)}.${fn}`
}

/** Parses the leading version of `610.57.04 [Deprecated; …]`; null for `Deprecated, see …`. */
export const parseRelease = (cell: unknown): string | null => /^\d[\d.]*/.exec(parseText(cell) ?? '')?.[0] ?? null

/** Parses vendors' words for enabled and disabled. */
export function parseEnabled(cell: unknown): 'enabled' | 'disabled' | null {
  const text = parseText(cell)?.toLowerCase()
  if (!text) return null
  if (/^(enabled?|on|true|yes|active|1)$/.test(text)) return 'enabled'
  return /^(disabled?|off|false|no|0)$/.test(text) ? 'disabled' : null
}

/** Upper bounds of valid tool output, which limit the cost of malformed output. */
const MAX_LINE_LENGTH = 8192
const MAX_LINES = 20_000
/** Upper bound of devices per node, partitions included. */
export const MAX_DEVICES = 1024

/** Splits a text into lines without control characters. */
export const splitLines = (text: string): string[] =>
  stripControl(text)
    .split('\n', MAX_LINES)
    .map((line) => line.slice(0, MAX_LINE_LENGTH))

/** First line that matches the pattern, truncated for display. */
export function firstLine(text: string, pattern = /\S/): string | null {
  const line = splitLines(text).find((candidate) => pattern.test(candidate))
  return line ? line.trim().slice(0, 300) : null
}

/** Summarizes link types by frequency: seven times `NV18` becomes `NV18 to 7 peers`. */
export function summarizePeers(kinds: string[]): string | null {
  const seen = new Map<string, number>()
  for (const kind of kinds) seen.set(kind, (seen.get(kind) ?? 0) + 1)
  const parts = [...seen].sort((a, b) => b[1] - a[1]).map(([kind, n]) => `${kind} to ${n} ${n === 1 ? 'peer' : 'peers'}`)
  return parts.length ? parts.join(', ') : null
}

/** Parses JSON within other text. Truncated JSON is parsed up to its last complete value. undefined without JSON. */
export function parseJson(text: string): unknown {
  const body = stripControl(text).replace(/(:\s*)(?:NaN|-?Infinity)\b/g, '$1null')
  const starts: number[] = []
  for (const match of body.matchAll(/^[ \t]{0,40}[{[]/gm)) if (starts.push(match.index + match[0].length - 1) === 8) break
  for (const start of starts.length ? starts : [body.search(/[{[]/)]) {
    if (start < 0) continue
    const { end, closers } = closeJson(body, start)
    try {
      return JSON.parse(body.slice(start, end) + closers)
    } catch {}
  }
  return undefined
}

/** Finds the end of the value at `start`, or of its last complete part, and the closing brackets that are missing. */
function closeJson(body: string, start: number): { end: number; closers: string } {
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

/** Returns objects unchanged, and {} for everything else. */
export const asRecord = (value: unknown): Record<string, unknown> =>
  value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as Record<string, unknown>) : {}

/** Returns arrays unchanged, objects as one element, and [] for everything else. */
export const asArray = (value: unknown): unknown[] =>
  Array.isArray(value) ? value.slice(0, MAX_DEVICES) : value !== null && typeof value === 'object' ? [value] : []
