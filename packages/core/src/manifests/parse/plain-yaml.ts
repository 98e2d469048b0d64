// Hand-written, because the library takes most of the time of an apply: it keeps positions and comments of everything.

/** The text is not in the subset: the library reads it, and reports what is wrong. */
class NotPlain extends Error {}
const giveUp = (): never => {
  throw new NotPlain()
}

const MAX_DEPTH = 32
const LINE = /^( *)(.*)$/
const KEY = /^([A-Za-z][A-Za-z0-9_./-]*):(?: +|$)/
const FLOW_KEY = /[A-Za-z][A-Za-z0-9_./-]*(?=:(?: |$))/y
const DOUBLE_QUOTED = /"(?:[^"\\]|\\(?:["\\/bfnrt]|u(?!d[89a-f])[0-9a-f]{4}))*"/iy
const SINGLE_QUOTED = /'(?:[^']|'')*'/y
/** Starts with no indicator of YAML, and contains no comment, key or end of a flow collection. */
const PLAIN = /[A-Za-z0-9_/.+-][A-Za-z0-9_/.+()%@=;~^$<>-]*(?:(?: |:)[A-Za-z0-9_/.+()%@=;~^$<>*&!?|-]+)*/y
const NUMBER = /^-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?$/
/** What YAML 1.2 reads as another value than text, also in notations that JSON does not have. */
const OTHER_VALUE =
  /^(?:null|true|false|[-+]?\.inf|\.nan|0o[0-7]+|0x[0-9a-f]+|[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:e[-+]?[0-9]+)?)$/i
const WORDS = new Map<string, unknown>([
  ['null', null],
  ['true', true],
  ['false', false],
])

type Line = { indent: number; text: string }
export type PlainValue = { value: unknown; count: number }

/**
 * The value of one YAML document in the subset that manifests mostly use: block mappings and lists, scalars and flow collections on one
 * line, printable ASCII, no anchors, tags or directives; also JSON.
 * @returns the same value as the library, with the number of values in it; null when the text is not in the subset
 */
export function readPlainYaml(text: string): PlainValue | null {
  try {
    return new PlainReader(text).read()
  } catch (error) {
    if (error instanceof NotPlain) return null
    throw error
  }
}

class PlainReader {
  private readonly lines: Line[] = []
  private next = 0
  private count = 0
  private readonly json: string | null = null

  constructor(text: string) {
    if (/[^\x20-\x7e\n]/.test(text)) giveUp()
    if (/^\s*[[{]/.test(text)) this.json = text
    else
      for (const each of text.split('\n')) {
        const [, spaces = '', rest = ''] = LINE.exec(each)!
        if (rest !== '' && !rest.startsWith('#')) this.lines.push({ indent: spaces.length, text: rest.trimEnd() })
      }
  }

  read(): PlainValue {
    let value: unknown
    if (this.json !== null) {
      const flow = new FlowReader(this.json, () => this.count++, /[ \n]/)
      value = flow.value(0)
      if (flow.rest().trim() !== '') giveUp()
    } else {
      if (this.lines.length === 0 || this.lines[0]!.indent !== 0) giveUp()
      value = this.block(0, 0)
      if (this.next < this.lines.length) giveUp()
    }
    return { value, count: this.count }
  }

  /** The mapping or list whose lines have this indentation. */
  private block(indent: number, depth: number): unknown {
    if (depth > MAX_DEPTH) giveUp()
    this.count++
    return isItem(this.lines[this.next]!.text) ? this.list(indent, depth) : this.map(indent, depth)
  }

  private list(indent: number, depth: number): unknown[] {
    const items: unknown[] = []
    for (let line = this.lines[this.next]; line && line.indent === indent && isItem(line.text); line = this.lines[this.next]) {
      const [dash = ''] = /^- +/.exec(line.text) ?? giveUp()
      const text = line.text.slice(dash.length)
      if (isItem(text)) giveUp()
      if (KEY.test(text)) {
        // The mapping of an item continues below its first key.
        this.lines[this.next] = { indent: indent + dash.length, text }
        items.push(this.block(indent + dash.length, depth + 1))
      } else {
        this.next++
        items.push(this.inline(text, indent, depth + 1))
      }
    }
    this.ended(indent)
    return items
  }

  private map(indent: number, depth: number): Record<string, unknown> {
    const entries = new Map<string, unknown>()
    for (let line = this.lines[this.next]; line && line.indent === indent && !isItem(line.text); line = this.lines[this.next]) {
      const [start, key] = KEY.exec(line.text) ?? giveUp()
      if (entries.has(key!)) giveUp()
      this.next++
      const text = line.text.slice(start.length)
      if (text !== '' && !text.startsWith('#')) entries.set(key!, this.inline(text, indent, depth + 1))
      else {
        const below = this.lines[this.next]
        if (!below || (below.indent <= indent && !(below.indent === indent && isItem(below.text)))) giveUp()
        entries.set(key!, this.block(below!.indent, depth + 1))
      }
    }
    this.ended(indent)
    return Object.fromEntries(entries)
  }

  /** A deeper line would continue a scalar, or is wrong. */
  private ended(indent: number): void {
    const line = this.lines[this.next]
    if (line && line.indent > indent) giveUp()
  }

  private inline(text: string, indent: number, depth: number): unknown {
    this.ended(indent)
    const flow = new FlowReader(text, () => this.count++, / /)
    const value = flow.top(depth)
    if (!/^(?: +#.*| *)$/.test(flow.rest())) giveUp()
    return value
  }
}

const isItem = (text: string): boolean => text === '-' || text.startsWith('- ')

const unquote = (text: string): string => JSON.parse(text) as string

/** Scalars and flow collections. */
class FlowReader {
  private at = 0
  private readonly text: string
  private readonly counted: () => void
  private readonly space: RegExp

  constructor(text: string, counted: () => void, space: RegExp) {
    this.text = text
    this.counted = counted
    this.space = space
  }

  rest = (): string => this.text.slice(this.at)

  /** A value outside of collections: plain text may contain commas and brackets there, which are left to the library. */
  top(depth: number): unknown {
    const char = this.text[0]!
    if (char === '[' || char === '{') return this.value(depth)
    this.counted()
    return this.scalar()
  }

  value(depth: number): unknown {
    if (depth > MAX_DEPTH) giveUp()
    this.skip()
    this.counted()
    const char = this.text[this.at]
    if (char === '[') return this.list(depth)
    if (char === '{') return this.map(depth)
    return this.scalar()
  }

  private list(depth: number): unknown[] {
    this.at++
    const items: unknown[] = []
    for (;;) {
      if (this.take(']')) return items
      items.push(this.value(depth + 1))
      if (!this.take(',') && !this.isAt(']')) giveUp()
    }
  }

  private map(depth: number): Record<string, unknown> {
    this.at++
    const entries = new Map<string, unknown>()
    for (;;) {
      if (this.take('}')) return Object.fromEntries(entries)
      const key = this.key()
      if (entries.has(key)) giveUp()
      entries.set(key, this.value(depth + 1))
      if (!this.take(',') && !this.isAt('}')) giveUp()
    }
  }

  private key(): string {
    this.skip()
    const key = this.text[this.at] === '"' ? this.match(DOUBLE_QUOTED, unquote) : this.match(FLOW_KEY, (text) => text)
    return key.length < 500 && key !== '__proto__' && this.take(':') ? key : giveUp()
  }

  private scalar(): unknown {
    const char = this.text[this.at]
    if (char === '"') return this.match(DOUBLE_QUOTED, unquote)
    if (char === "'") return this.match(SINGLE_QUOTED, (text) => text.slice(1, -1).replaceAll("''", "'"))
    const text = this.match(PLAIN, (match) => match)
    if (/^(?:-|---|\.\.\.)(?: |$)/.test(text) || text.endsWith(':')) giveUp()
    if (WORDS.has(text)) return WORDS.get(text)
    if (NUMBER.test(text)) {
      const number = Number(text)
      if (!Number.isFinite(number) || /^-0/.test(text) || (/^-?\d+$/.test(text) && !Number.isSafeInteger(number))) giveUp()
      return number
    }
    if (OTHER_VALUE.test(text)) giveUp()
    return text
  }

  private match<T>(pattern: RegExp, convert: (text: string) => T): T {
    pattern.lastIndex = this.at
    const match = pattern.exec(this.text)
    // Text in quotes over several lines is folded.
    if (!match || match[0].includes('\n')) return giveUp()
    this.at += match[0].length
    return convert(match[0])
  }

  private skip(): void {
    while (this.at < this.text.length && this.space.test(this.text[this.at]!)) this.at++
  }

  private isAt(char: string): boolean {
    this.skip()
    return this.text[this.at] === char
  }

  private take(char: string): boolean {
    if (!this.isAt(char)) return false
    this.at++
    return true
  }
}
