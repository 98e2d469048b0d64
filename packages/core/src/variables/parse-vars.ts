import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, type ParsedNode, parseDocument, type YAMLMap } from 'yaml'
import { type InputIssue, InvalidInput } from '../kernel/errors.ts'
import { variableError, variableKeyError, variableValueError } from './names.ts'
import type { Vars } from './tables.ts'

const MAX_BYTES = 256 * 1024
const MAX_DEPTH = 32
/** Limit of values after alias expansion: a few lines can expand to billions. */
const MAX_VALUES = 100_000
const MAX_ISSUES = 50

/**
 * Parses variables from YAML as Ansible reads it (1.1: `yes` is true), or from JSON when the text starts with `{`.
 * @throws InvalidInput at `text`, each issue with line and column: syntax errors, duplicate keys, values that JSON cannot
 * represent, invalid names
 */
export function parseVars(source: string): Vars {
  if (Buffer.byteLength(source) > MAX_BYTES) throw at([`has more than ${MAX_BYTES} bytes`])
  const lines = new LineCounter()
  const where = (offset: number | undefined): string => {
    const { line, col } = lines.linePos(offset ?? 0)
    return `line ${Math.max(1, line)}, column ${Math.max(1, col)}: `
  }
  const reader = new Reader(source, where)
  try {
    // The library's own check for duplicate keys takes quadratic time.
    const options = { lineCounter: lines, intAsBigInt: true, prettyErrors: false, uniqueKeys: false, logLevel: 'error' } as const
    const isJson = source.trimStart().startsWith('{')
    const document: Document.Parsed = parseDocument(source, {
      ...options,
      ...(isJson ? { version: '1.2', schema: 'json' } : { version: '1.1', schema: 'yaml-1.1' }),
    })
    const wrong = [...document.errors, ...document.warnings]
    if (wrong.length > 0) throw at(wrong.map((error) => where(error.pos[0]) + error.message))
    const vars = reader.read(document.contents)
    if (reader.issues.length > 0) throw at(reader.issues)
    if (Buffer.byteLength(JSON.stringify(vars)) > MAX_BYTES) throw at([`has more than ${MAX_BYTES} bytes as JSON`])
    return vars
  } catch (error) {
    if (error instanceof RangeError) throw at([`must not be nested deeper than ${MAX_DEPTH} levels`])
    throw error
  }
}

const at = (messages: string[]): InvalidInput =>
  new InvalidInput(messages.slice(0, MAX_ISSUES).map((message): InputIssue => ({ path: 'text', message })))

/** Whether YAML read an unquoted template, such as `{{ name }}`: a dictionary with a dictionary as its only key. */
const isTemplate = ({ items }: YAMLMap): boolean => items.length === 1 && isMap(items[0]!.key) && items[0]!.value === null

type Anchored = { value: unknown; count: number }

/** Converts the nodes of one document to JSON values, and collects values that JSON cannot represent. */
class Reader {
  readonly issues: string[] = []
  private readonly source: string
  private readonly where: (offset: number | undefined) => string
  private readonly anchors = new Map<string, Anchored>()
  private count = 0

  constructor(source: string, where: (offset: number | undefined) => string) {
    this.source = source
    this.where = where
  }

  read(contents: ParsedNode | null): Vars {
    if (contents === null || (isScalar(contents) && contents.value === null)) return {}
    if (!isMap(contents)) {
      this.report(contents, 'must be a mapping, such as `ntp_server: 10.0.0.1`')
      return {}
    }
    const vars = this.map(contents, 0)
    for (const pair of contents.items) {
      const name = isScalar(pair.key) ? pair.key.value : null
      const message = typeof name === 'string' ? variableError(name, vars[name]) : null
      if (message) this.report(pair.key, `${String(name).slice(0, 80)}: ${message}`)
    }
    return vars
  }

  private report(node: unknown, message: string): null {
    if (this.issues.length < MAX_ISSUES) this.issues.push(this.where((node as ParsedNode | null)?.range?.[0]) + message)
    return null
  }

  private value(node: ParsedNode | null, depth: number): unknown {
    if (++this.count > MAX_VALUES) throw at([`expands to more than ${MAX_VALUES} values; use fewer aliases`])
    if (node === null) return null
    if (depth > MAX_DEPTH) return this.report(node, `must not be nested deeper than ${MAX_DEPTH} levels`)
    if (isAlias(node)) {
      const known = this.anchors.get(node.source)
      if (!known) return this.report(node, `no anchor &${node.source} is defined before this alias`)
      this.count += known.count
      return known.value
    }
    const before = this.count
    const value = isScalar(node) ? this.scalar(node) : isMap(node) ? this.map(node, depth) : this.list(node, depth)
    if (node.anchor) this.anchors.set(node.anchor, { value, count: this.count - before })
    return value
  }

  private list(node: ParsedNode, depth: number): unknown[] | null {
    if (!isSeq(node) || (node.tag && node.tag !== 'tag:yaml.org,2002:seq'))
      return this.report(node, `JSON does not support ${node.tag}; use a list or a mapping`)
    return node.items.map((item) => this.value(item as ParsedNode, depth + 1))
  }

  private map(node: YAMLMap, depth: number): Vars {
    if (isTemplate(node)) {
      this.report(node, `quote the value: "${this.source.slice(node.range![0], node.range![1]).slice(0, 80)}"`)
      return {}
    }
    const entries = new Map<string, unknown>()
    const below: Vars[] = []
    if (node.tag && node.tag !== 'tag:yaml.org,2002:map') this.report(node, `JSON does not support ${node.tag}; use a mapping`)
    for (const { key, value } of node.items as { key: ParsedNode; value: ParsedNode | null }[]) {
      const read = this.value(value, depth + 1)
      if (isScalar(key) && typeof key.value === 'symbol') below.push(...this.merged(key, read))
      else {
        const name = isScalar(key) ? this.scalar(key) : null
        if (typeof name !== 'string') this.report(key, 'this key is not text; put it in quotes')
        else if (entries.has(name)) this.report(key, `${name.slice(0, 80)} occurs twice`)
        else {
          // Keys at the top level are validated as variable names.
          const reason = depth === 0 ? null : variableKeyError(name)
          if (reason) this.report(key, reason)
          entries.set(name, read)
        }
      }
    }
    for (const vars of below) for (const [name, value] of Object.entries(vars)) if (!entries.has(name)) entries.set(name, value)
    return Object.fromEntries(entries)
  }

  /** Resolves `<<`: one dictionary or several, of several the first wins. */
  private merged(key: ParsedNode, value: unknown): Vars[] {
    const all = Array.isArray(value) ? value : [value]
    if (all.every((each) => typeof each === 'object' && each !== null && !Array.isArray(each))) return all as Vars[]
    this.report(key, '<< needs a mapping or a list of mappings')
    return []
  }

  private scalar(node: { value: unknown; source?: string; format?: string }): unknown {
    const { value, source } = node
    if (node.format === 'TIME') return this.report(node, `${source} is a base-60 number in YAML 1.1; put it in quotes`)
    if (typeof value === 'bigint') {
      const exact = Number(value)
      return Number.isSafeInteger(exact)
        ? exact
        : this.report(node, 'the number is too large to be represented exactly; put it in quotes')
    }
    // The library parses these as booleans, Ansible as text.
    if (typeof value === 'boolean' && source && /^[yn]$/i.test(source)) return source
    if (value instanceof Date) return this.report(node, 'JSON does not support dates; put it in quotes')
    const reason = value instanceof Uint8Array ? 'JSON does not support binary data' : variableValueError(value)
    return reason ? this.report(node, reason) : value
  }
}
