import { Composer, type Document, isAlias, isMap, isScalar, isSeq, LineCounter, type ParsedNode, Parser } from 'yaml'
import type { ManifestIssue, Position } from './issue.ts'
import { readPlainYaml } from './plain-yaml.ts'

const MAX_DEPTH = 32
/** Limits after aliases and templates are expanded: a few lines can expand to billions of values. */
const MAX_VALUES = 1_000_000
const MAX_EXPANDED_CHARACTERS = 50_000_000
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

/** Totals of all files of an invocation so far: values, and characters of texts that are not plain. */
export type Budget = { values: number; characters: number }
export const newBudget = (): Budget => ({ values: 0, characters: 0 })

/** Why the expanded manifests exceed a limit; null when they do not. */
export const excessOf = ({ values, characters }: Budget): string | null =>
  values > MAX_VALUES
    ? `the manifests expand to more than ${MAX_VALUES} values`
    : characters > MAX_EXPANDED_CHARACTERS
      ? `the manifests expand to more than ${MAX_EXPANDED_CHARACTERS} characters`
      : null

/** Values and characters of a value. */
export function sizeOf(value: unknown, size: Budget = newBudget()): Budget {
  size.values++
  if (typeof value === 'string') size.characters += value.length
  else if (Array.isArray(value)) for (const each of value) sizeOf(each, size)
  else if (value !== null && typeof value === 'object')
    for (const [key, each] of Object.entries(value)) {
      size.characters += key.length
      sizeOf(each, size)
    }
  return size
}

/**
 * Reads the documents of a YAML 1.2 or JSON file, one after the other, so that memory is bounded by the largest one. A document with
 * issues has no value. Positions are computed on demand.
 */
export function* readDocuments(
  file: string,
  text: string,
  budget: Budget = newBudget(),
): Generator<RawDocument | ManifestIssue[]> {
  let number = 0
  for (const part of partsOf(text)) {
    const plain = readPlainYaml(part.text)
    if (!plain) {
      for (const document of readWithLibrary(file, part, number, budget)) {
        number++
        yield document
      }
      continue
    }
    const own = ++number
    const before = { ...budget }
    budget.values += plain.count
    if (budget.values > MAX_VALUES) {
      yield* readWithLibrary(file, part, own - 1, before)
      continue
    }
    let document: RawDocument | null = null
    const at: RawDocument['at'] = (path, key) => {
      if (!document) {
        const [read] = readWithLibrary(file, part, own - 1, newBudget())
        document = read as RawDocument
      }
      return document.at(path, key)
    }
    yield { file, document: own, value: plain.value, at }
  }
}

/** A document in its file, with the lines before it. */
type Part = { text: string; marked: boolean; line: number }

/** Splits a file at its document markers. A file with directives or end markers is one part. */
function* partsOf(text: string): Generator<Part> {
  if (/^(?:%|\.\.\.)/m.test(text)) return yield { text, marked: false, line: 0 }
  let [start, line, marked] = [0, 0, false]
  for (const { index } of text.matchAll(/^---(?=[ \n]|$)/gm)) {
    const part = text.slice(start, index)
    if (marked || !isBlank(part)) yield { text: part, marked, line }
    for (let at = text.indexOf('\n', start); at >= 0 && at < index; at = text.indexOf('\n', at + 1)) line++
    ;[start, marked] = [index + 3, true]
  }
  const last = text.slice(start)
  if (marked || !isBlank(last)) yield { text: last, marked, line }
}

const isBlank = (text: string): boolean => /^(?: *(?:#.*)?(?:\n|$))*$/.test(text)

function* readWithLibrary(file: string, part: Part, first: number, budget: Budget): Generator<RawDocument | ManifestIssue[]> {
  const lines = new LineCounter()
  // The library's own check for duplicate keys takes quadratic time.
  const composer = new Composer({ lineCounter: lines, uniqueKeys: false, intAsBigInt: true, version: '1.2' })
  const positionAt = (offset: number): Position => {
    const { line, col } = lines.linePos(offset)
    return { line: Math.max(1, line) + part.line, column: Math.max(1, col) }
  }
  let number = first
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
    const at = (path: string, key?: 'key'): Position => {
      for (let rest = path; ; rest = rest.slice(0, rest.lastIndexOf('.'))) {
        const found = offsets.get(rest)
        if (found) return positionAt(key && rest === path ? found.key : found.value)
        if (!rest.includes('.')) break
      }
      return positionAt(offsets.get('')?.value ?? 0)
    }
    return { file, document: number, value, at }
  }
  try {
    for (const token of new Parser(lines.addNewLine).parse(part.marked ? `---${part.text}` : part.text))
      for (const document of composer.next(token)) yield read(document)
    for (const document of composer.end()) yield read(document)
  } catch (error) {
    if (!(error instanceof RangeError)) throw error
    const message = `is nested deeper than ${MAX_DEPTH} levels`
    yield [{ file, document: number + 1, line: part.line + 1, column: 1, path: '', message, allowed: [] }]
  }
}

const firstLine = (message: string): string =>
  /call stack/.test(message)
    ? `is nested deeper than ${MAX_DEPTH} levels`
    : message
        .split('\n')[0]!
        .replace(/ at line \d+.*$/, '')
        .slice(0, 300)

type Anchored = { value: unknown; size: Budget } | 'open'

/** Converts the nodes of one document to JSON values, and remembers their positions. */
class Reader {
  readonly issues: ManifestIssue[] = []
  readonly offsets: Offsets = new Map()
  private readonly anchors = new Map<string, Anchored>()
  private readonly budget: Budget
  private readonly issue: (offset: number, path: string, message: string) => ManifestIssue

  constructor(budget: Budget, issue: (offset: number, path: string, message: string) => ManifestIssue) {
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
    this.budget.values++
    const excess = excessOf(this.budget)
    if (excess) return this.report(node, path, `${excess}; use fewer aliases or apply fewer files`)
    if (node === null) return null
    if (depth > MAX_DEPTH) return this.report(node, path, `is nested deeper than ${MAX_DEPTH} levels`)
    if (isAlias(node)) return this.alias(node as ParsedNode & { source: string }, path)
    if (node.tag && !CORE_TAGS.has(node.tag))
      return this.report(node, path, `the tag ${node.tag.slice(0, 60)} is not allowed; remove it`)
    const { anchor } = node as { anchor?: string }
    const before = { ...this.budget }
    if (anchor) this.anchors.set(anchor, 'open')
    const value = isScalar(node)
      ? this.scalar(node, path)
      : isMap(node)
        ? this.map(node, path, depth)
        : this.list(node, path, depth)
    if (anchor) {
      const size = { values: this.budget.values - before.values + 1, characters: this.budget.characters - before.characters }
      this.anchors.set(anchor, { value, size })
    }
    return value
  }

  private alias(node: ParsedNode & { source: string }, path: string): unknown {
    const known = this.anchors.get(node.source)
    if (known === 'open') return this.report(node, path, `the alias *${node.source} is inside its own anchor`)
    if (!known) return this.report(node, path, `no anchor &${node.source} is defined before this alias`)
    this.budget.values += known.size.values
    this.budget.characters += known.size.characters
    const excess = excessOf(this.budget)
    return excess ? this.report(node, path, `${excess}; use fewer aliases`) : known.value
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
    this.budget.characters += typeof value === 'string' ? value.length : 0
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
