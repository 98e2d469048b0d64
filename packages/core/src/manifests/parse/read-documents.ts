import { Composer, type Document, isAlias, isMap, isScalar, isSeq, LineCounter, type ParsedNode, Parser } from 'yaml'
import type { ManifestIssue, Position } from './issue.ts'

const MAX_DEPTH = 32
/** Limit of values after alias expansion: a few lines can expand to billions. */
const MAX_VALUES = 1_000_000
const CORE_TAGS = new Set(['str', 'int', 'float', 'bool', 'null', 'map', 'seq'].map((name) => `tag:yaml.org,2002:${name}`))

/** One document of a file, as JSON values. */
export type RawDocument = {
  file: string
  /** From 1. */
  document: number
  value: unknown
  /** Position of the value at a path; of the nearest field above it when the path has none. `key`: that of the field's name. */
  at(path: string, key?: 'key'): Position
}

type Offsets = Map<string, { key: number; value: number }>

/**
 * Reads the documents of a YAML 1.2 or JSON file, one after the other, so that memory is bounded by the largest one. A document with
 * issues has no value.
 */
export function* readDocuments(file: string, text: string): Generator<RawDocument | ManifestIssue[]> {
  const lines = new LineCounter()
  // The library's own check for duplicate keys takes quadratic time.
  const composer = new Composer({ lineCounter: lines, uniqueKeys: false, intAsBigInt: true, version: '1.2' })
  const positionAt = (offset: number): Position => {
    const { line, col } = lines.linePos(offset)
    return { line: Math.max(1, line), column: Math.max(1, col) }
  }
  let number = 0
  const budget = { values: 0 }
  const read = (document: Document.Parsed): RawDocument | ManifestIssue[] => {
    number++
    const issue = (offset: number, path: string, message: string): ManifestIssue => ({
      ...{ file, document: number, ...positionAt(offset), path, message, allowed: [] },
    })
    const { version } = document.directives.yaml
    if (version !== '1.2' && version !== undefined)
      return [issue(document.range[0], '', `is YAML ${version}; manifests are YAML 1.2. Remove the %YAML line`)]
    const wrong = [...document.errors, ...document.warnings]
    if (wrong.length > 0) return wrong.slice(0, 20).map(({ pos, message }) => issue(pos[0], '', firstLine(message)))
    const reader = new Reader(budget, issue)
    const value = reader.value(document.contents as ParsedNode | null, '', 0)
    if (reader.issues.length > 0) return reader.issues
    const { offsets } = reader
    const own = number
    const at = (path: string, key?: 'key'): Position => {
      for (let rest = path; ; rest = rest.slice(0, rest.lastIndexOf('.'))) {
        const found = offsets.get(rest)
        if (found) return positionAt(key && rest === path ? found.key : found.value)
        if (!rest.includes('.')) break
      }
      return positionAt(offsets.get('')?.value ?? 0)
    }
    return { file, document: own, value, at }
  }
  try {
    for (const token of new Parser(lines.addNewLine).parse(text))
      for (const document of composer.next(token)) yield read(document)
    for (const document of composer.end()) yield read(document)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    yield [
      {
        file,
        document: number + 1,
        line: 1,
        column: 1,
        path: '',
        message: `is nested deeper than ${MAX_DEPTH} levels`,
        allowed: [],
      },
    ]
  }
}

const firstLine = (message: string): string =>
  /call stack/.test(message)
    ? `is nested deeper than ${MAX_DEPTH} levels`
    : message
        .split('\n')[0]!
        .replace(/ at line \d+.*$/, '')
        .slice(0, 300)

type Anchored = { value: unknown; count: number } | 'open'

/** Converts the nodes of one document to JSON values, and remembers their positions. */
class Reader {
  readonly issues: ManifestIssue[] = []
  readonly offsets: Offsets = new Map()
  private readonly anchors = new Map<string, Anchored>()
  private readonly budget: { values: number }
  private readonly issue: (offset: number, path: string, message: string) => ManifestIssue

  constructor(budget: { values: number }, issue: (offset: number, path: string, message: string) => ManifestIssue) {
    this.budget = budget
    this.issue = issue
  }

  private report(node: ParsedNode | null, path: string, message: string): null {
    if (this.issues.length < 50) this.issues.push(this.issue(node?.range?.[0] ?? 0, path, message))
    return null
  }

  value(node: ParsedNode | null, path: string, depth: number, key?: ParsedNode): unknown {
    const offset = node?.range?.[0] ?? key?.range?.[0] ?? 0
    this.offsets.set(path, { key: key?.range?.[0] ?? offset, value: offset })
    if (++this.budget.values > MAX_VALUES)
      return this.report(
        node,
        path,
        `the manifests expand to more than ${MAX_VALUES} values; use fewer aliases or apply fewer files`,
      )
    if (node === null) return null
    if (depth > MAX_DEPTH) return this.report(node, path, `is nested deeper than ${MAX_DEPTH} levels`)
    if (isAlias(node)) return this.alias(node as ParsedNode & { source: string }, path)
    if (node.tag && !CORE_TAGS.has(node.tag))
      return this.report(node, path, `the tag ${node.tag.slice(0, 60)} is not allowed; remove it`)
    const { anchor } = node as { anchor?: string }
    const before = this.budget.values
    if (anchor) this.anchors.set(anchor, 'open')
    const value = isScalar(node)
      ? this.scalar(node, path)
      : isMap(node)
        ? this.map(node, path, depth)
        : this.list(node, path, depth)
    if (anchor) this.anchors.set(anchor, { value, count: this.budget.values - before + 1 })
    return value
  }

  private alias(node: ParsedNode & { source: string }, path: string): unknown {
    const known = this.anchors.get(node.source)
    if (known === 'open') return this.report(node, path, `the alias *${node.source} is inside its own anchor`)
    if (!known) return this.report(node, path, `no anchor &${node.source} is defined before this alias`)
    this.budget.values += known.count
    if (this.budget.values > MAX_VALUES)
      return this.report(node, path, `the manifests expand to more than ${MAX_VALUES} values; use fewer aliases`)
    return known.value
  }

  private list(node: ParsedNode, path: string, depth: number): unknown {
    if (!isSeq(node)) return this.report(node, path, 'must be a value, a list or a mapping')
    return node.items.map((item, i) => this.value(item as ParsedNode, join(path, String(i)), depth + 1))
  }

  private map(node: ParsedNode, path: string, depth: number): unknown {
    const entries = new Map<string, unknown>()
    for (const { key, value } of (node as unknown as { items: { key: ParsedNode; value: ParsedNode | null }[] }).items) {
      const name = isScalar(key) && !(key as { tag?: string }).tag ? String((key as { value: unknown }).value) : null
      if (name === null || name === '__proto__') this.report(key, path, 'the name of a field must be text')
      else if (entries.has(name)) this.report(key, join(path, name), `the field ${name.slice(0, 80)} occurs twice`)
      else entries.set(name, this.value(value, join(path, name), depth + 1, key))
    }
    return Object.fromEntries(entries)
  }

  private scalar(node: ParsedNode, path: string): unknown {
    const { value, source } = node as unknown as { value: unknown; source?: string }
    if (typeof value === 'bigint') {
      const exact = Number(value)
      return Number.isSafeInteger(exact)
        ? exact
        : this.report(node, path, `${source} is too large for a number; put it in quotes`)
    }
    if (typeof value === 'number' && !Number.isFinite(value)) return this.report(node, path, `${source} is not a number of JSON`)
    return value
  }
}

const join = (path: string, name: string): string => (path === '' ? name : `${path}.${name}`)
