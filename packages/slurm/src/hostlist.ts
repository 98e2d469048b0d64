/** A hostlist is malformed or too long. */
export class HostlistError extends Error {}

/** Limit of names, so that `n[1-999999999]` is cheap to reject. */
export const HOSTLIST_MAX = 100_000

/**
 * Splits at commas and line ends outside brackets; trims the parts and drops empty ones.
 * @throws HostlistError when brackets are unbalanced
 */
export function splitHostlist(text: string): string[] {
  const parts: string[] = []
  let part = ''
  let depth = 0
  for (const char of text) {
    if (char === '[') depth++
    if (char === ']') depth--
    if (depth < 0 || depth > 1) throw new HostlistError(`the brackets in ${JSON.stringify(text.slice(0, 80))} do not pair up`)
    if (depth === 0 && (char === ',' || char === '\n')) {
      parts.push(part)
      part = ''
    } else part += char
  }
  if (depth !== 0) throw new HostlistError(`the brackets in ${JSON.stringify(text.slice(0, 80))} do not pair up`)
  parts.push(part)
  return parts.map((p) => p.trim()).filter((p) => p !== '')
}

/** Expands the contents of one bracket, `001-064,100`, to padded text. */
function expandRanges(ranges: string, max: number): string[] {
  const out: string[] = []
  for (const range of ranges.split(',')) {
    const match = /^\s*(\d{1,15})(?:-(\d{1,15}))?\s*$/.exec(range)
    if (!match) throw new HostlistError(`[${ranges}] must contain numbers and ranges such as 1-8,12`)
    const [, low, high = low] = match as unknown as [string, string, string?]
    const [first, last] = [Number(low), Number(high)]
    if (last < first) throw new HostlistError(`the range ${low}-${high} runs backwards`)
    if (out.length + (last - first + 1) > max) throw new HostlistError(`it names more than ${max} hosts`)
    for (let n = first; n <= last; n++) out.push(String(n).padStart(low.length, '0'))
  }
  return out
}

/**
 * Expands a hostlist in Slurm's syntax: `gpu[001-064,100],rack[1-2]n[01-16]`. Keeps zero padding and order; drops duplicates.
 * @throws HostlistError when it is malformed or names more than `max` hosts
 */
export function expandHostlist(text: string, { max = HOSTLIST_MAX }: { max?: number } = {}): string[] {
  const names = new Set<string>()
  for (const part of splitHostlist(text)) {
    let heads = ['']
    for (const [, plain, ranges] of part.matchAll(/([^[\]]+)|\[([^[\]]*)\]/g)) {
      const pieces = plain === undefined ? expandRanges(ranges!, max) : [plain]
      if (heads.length * pieces.length > max) throw new HostlistError(`it names more than ${max} hosts`)
      heads = heads.flatMap((head) => pieces.map((piece) => head + piece))
    }
    for (const name of heads) names.add(name)
    if (names.size > max) throw new HostlistError(`it names more than ${max} hosts`)
  }
  return [...names]
}

/** Returns the shortest common hostlist for `names`. Names that differ only in their last number share a bracket. */
export function foldHostlist(names: Iterable<string>): string {
  type Family = { head: string; tail: string; numbers: { text: string; value: number }[] }
  const families = new Map<string, Family>()
  const plain: string[] = []
  for (const name of new Set(names)) {
    const match = /^(.*?)(\d{1,15})(\D*)$/.exec(name)
    if (!match) {
      plain.push(name)
      continue
    }
    const [, head, text, tail] = match as unknown as [string, string, string, string]
    // 9 and 10 can share a range, and so can 09 and 10. But 9 and 09 are different names, so padded numbers group by width.
    const width = text.length > 1 && text.startsWith('0') ? text.length : 0
    const key = JSON.stringify([head, tail, width])
    const family = families.get(key) ?? { head, tail, numbers: [] }
    family.numbers.push({ text, value: Number(text) })
    families.set(key, family)
  }
  // Padded 08,09 continue with 10,11 of the same width.
  for (const [key, family] of families) {
    const [head, tail, width] = JSON.parse(key) as [string, string, number]
    if (width < 2) continue
    const unpadded = families.get(JSON.stringify([head, tail, 0]))
    if (!unpadded) continue
    const top = family.numbers.reduce((most, n) => Math.max(most, n.value), 0)
    const rest = new Map(unpadded.numbers.filter((n) => n.text.length === width).map((n) => [n.value, n]))
    for (let value = top + 1; rest.has(value); value++) {
      family.numbers.push(rest.get(value)!)
      rest.delete(value)
      unpadded.numbers = unpadded.numbers.filter((n) => n.value !== value)
    }
  }
  const folded = [...families.values()].filter((f) => f.numbers.length > 0).map(foldFamily)
  return [...plain, ...folded].sort().join(',')
}

function foldFamily({ head, tail, numbers }: { head: string; tail: string; numbers: { text: string; value: number }[] }): string {
  const sorted = numbers.sort((a, b) => a.value - b.value)
  if (sorted.length === 1) return `${head}${sorted[0]!.text}${tail}`
  const ranges: string[] = []
  for (let i = 0; i < sorted.length; ) {
    let end = i
    while (sorted[end + 1]?.value === sorted[end]!.value + 1) end++
    ranges.push(end === i ? sorted[i]!.text : `${sorted[i]!.text}-${sorted[end]!.text}`)
    i = end + 1
  }
  return `${head}[${ranges.join(',')}]${tail}`
}

/**
 * Folds consecutive names without changing their order: `10.0.0.[1-3],10.0.0.9`. Slurm pairs the names of a line with its addresses in
 * the order of both.
 */
export function foldInOrder(names: readonly string[]): string {
  type Run = { head: string; tail: string; width: number; first: string; last: string; value: number }
  const runs: Run[] = []
  for (const name of names) {
    const [, head = name, text = '', tail = ''] = /^(.*?)(\d{1,15})(\D*)$/.exec(name) ?? []
    const width = text.length > 1 && text.startsWith('0') ? text.length : 0
    const run = runs.at(-1)
    const continues =
      run &&
      text !== '' &&
      run.first !== '' &&
      run.head === head &&
      run.tail === tail &&
      (run.width === width || run.width === text.length) &&
      run.value + 1 === Number(text)
    if (continues) Object.assign(run, { last: text, value: Number(text) })
    else runs.push({ head, tail, width, first: text, last: text, value: Number(text) })
  }
  return runs
    .map(({ head, tail, first, last }) => (first === last ? `${head}${first}${tail}` : `${head}[${first}-${last}]${tail}`))
    .join(',')
}
