import { setImmediate } from 'node:timers/promises'
import { z } from 'zod'
import { InvalidInput } from '../../kernel/errors.ts'
import { singleLineText } from '../../kernel/input.ts'
import { expandHostlist, HOSTLIST_MAX } from '../../selection/index.ts'
import { KINDS, type KindName, kindOf, type Spec } from '../kinds/index.ts'
import { convertDiscoverStatic, isDiscoverStatic } from './discover-static.ts'
import { MAX_ISSUES, type ManifestIssue, nearestName, type Position } from './issue.ts'
import { type Budget, excessOf, newBudget, type RawDocument, readDocuments, sizeOf } from './read-documents.ts'
import { fillTemplate } from './template.ts'

export const API_VERSION = 'muster/v1'
export const MAX_CHARACTERS = 10_000_000
const MAX_FILES = 1000
const MAX_OBJECTS = 20_000

export const ManifestFiles = z
  .array(z.object({ name: singleLineText(1000), text: z.string() }))
  .min(1, 'name at least one file')
  .max(MAX_FILES, `at most ${MAX_FILES} files at once`)
  .refine(
    (files) => files.reduce((sum, { text }) => sum + text.length, 0) <= MAX_CHARACTERS,
    `the manifests must have at most ${MAX_CHARACTERS / 1e6} million characters; use hostlist templates, or apply parts of them`,
  )
export type ManifestFile = z.output<typeof ManifestFiles>[number]

/** One object of the manifests. */
export type ManifestObject = {
  kind: KindName
  name: string
  /** The given fields, validated; a null value asks for the default. */
  spec: Spec
  resourceVersion: string | null
  source: { file: string; document: number; at(path: string): Position }
}
export type Manifests = { objects: ManifestObject[]; issues: ManifestIssue[]; issueCount: number; warnings: string[] }

const ENVELOPE = ['apiVersion', 'kind', 'metadata', 'spec']
const METADATA = ['name', 'nodes', 'resourceVersion']

/** Parses all documents and collects all issues. */
export async function parseManifests(files: readonly ManifestFile[]): Promise<Manifests> {
  const budget = newBudget()
  const parser = new ManifestParser(budget)
  let lastPause = Date.now()
  for (const { name, text } of files)
    for (const document of readDocuments(name, text, budget)) {
      if (Array.isArray(document)) for (const issue of document) parser.add(issue)
      else parser.read(document)
      // Other requests continue between documents.
      if (Date.now() - lastPause > 20) {
        await setImmediate()
        lastPause = Date.now()
      }
    }
  const { objects, issues, issueCount, warnings } = parser
  return { objects, issues, issueCount, warnings }
}

type Place = { document: RawDocument; prefix: string; paths?: Record<string, string>; specPath?: string }
type Json = Record<string, unknown>
const isObject = (value: unknown): value is Json => typeof value === 'object' && value !== null && !Array.isArray(value)

class ManifestParser {
  readonly objects: ManifestObject[] = []
  readonly issues: ManifestIssue[] = []
  readonly warnings: string[] = []
  issueCount = 0
  private readonly seen = new Map<string, ManifestObject>()
  private readonly values = new Map<string, ManifestObject>()
  private readonly budget: Budget

  constructor(budget: Budget) {
    this.budget = budget
  }

  add(issue: ManifestIssue): void {
    if (this.issueCount++ < MAX_ISSUES) this.issues.push(issue)
  }

  private report({ document, prefix }: Place, path: string, message: string, allowed: readonly string[] = [], key?: 'key'): void {
    const { file, document: number } = document
    const full = [prefix, path].filter(Boolean).join('.')
    if (this.issueCount >= MAX_ISSUES) return void this.issueCount++
    this.add({ file, document: number, ...document.at(full, key), path: full, message, allowed: [...allowed] })
  }

  read(document: RawDocument): void {
    const { value } = document
    if (value === null) return
    if (Array.isArray(value)) for (const [i, each] of value.entries()) this.manifest({ document, prefix: String(i) }, each)
    else if (isDiscoverStatic(value)) this.discoverStatic(document, value)
    else this.manifest({ document, prefix: '' }, value)
  }

  private discoverStatic(document: RawDocument, value: Json): void {
    const { objects, warnings } = convertDiscoverStatic(value)
    this.warnings.push(...warnings.map((text) => `${document.file}: ${text}`))
    for (const { kind, name, spec, from, paths } of objects)
      this.object({ document, prefix: from, paths, specPath: '' }, kind as KindName, { name }, spec)
  }

  private manifest(place: Place, value: unknown) {
    if (!isObject(value)) return this.report(place, '', 'must be a mapping with apiVersion, kind, metadata and spec', ENVELOPE)
    for (const key of Object.keys(value)) if (!ENVELOPE.includes(key)) this.unknownField(place, key, ENVELOPE)
    const { apiVersion, kind, metadata, spec } = value
    if (apiVersion !== API_VERSION)
      this.report(place, 'apiVersion', apiVersion === undefined ? 'is missing' : `${shown(apiVersion)} is not known`, [
        API_VERSION,
      ])
    const name = KINDS.find((each) => each === kind)
    if (!name)
      this.report(place, 'kind', kind === undefined ? 'is missing' : `${shown(kind)} is not known${hintFor(kind)}`, KINDS)
    if (!isObject(metadata))
      return this.report(place, 'metadata', metadata == null ? 'is missing' : 'must be a mapping', METADATA)
    if (spec != null && !isObject(spec)) return this.report(place, 'spec', 'must be a mapping')
    for (const key of Object.keys(metadata)) if (!METADATA.includes(key)) this.unknownField(place, `metadata.${key}`, METADATA)
    if (name && apiVersion === API_VERSION) this.object(place, name, metadata, (spec as Json | null | undefined) ?? {})
  }

  private unknownField(place: Place, path: string, allowed: readonly string[], hint?: string): void {
    const field = path.slice(path.lastIndexOf('.') + 1)
    const near = nearestName(field, allowed)
    const advice = hint ? `: ${hint}` : near ? `; did you mean ${near}?` : ''
    this.report(place, path, `the field ${field.slice(0, 80)} is not known${advice}`, allowed, 'key')
  }

  /** One object, or with `metadata.nodes` one per name. */
  private object(place: Place, kind: KindName, metadata: Json, spec: Json) {
    const { name, nodes, resourceVersion = null } = metadata
    if (resourceVersion !== null && typeof resourceVersion !== 'string')
      return this.report(place, 'metadata.resourceVersion', 'must be text')
    if (nodes === undefined) return this.one(place, kind, name, spec, resourceVersion)
    if (name !== undefined) return this.report(place, 'metadata.nodes', 'cannot be combined with name')
    if (kind !== 'ComputeNode') return this.report(place, 'metadata.nodes', `is for ComputeNode; a ${kind} has a name`)
    if (resourceVersion !== null) return this.report(place, 'metadata.resourceVersion', 'needs a name: it belongs to one object')
    try {
      const names = expandHostlist(typeof nodes === 'string' ? nodes : '', { max: Math.min(MAX_OBJECTS, HOSTLIST_MAX) })
      if (names.length === 0) return this.report(place, 'metadata.nodes', 'must be a hostlist such as x1000c0s[0-7]b0n[0-1]')
      const { values, characters } = sizeOf(spec)
      this.budget.values += values * (names.length - 1)
      this.budget.characters += characters * (names.length - 1)
      const excess = excessOf(this.budget)
      if (excess) return this.report(place, 'metadata.nodes', `${excess}; apply parts of them`)
      const before = this.issueCount
      for (const [i, each] of names.entries()) {
        this.one(place, kind, each, fillTemplate(spec, each, i) as Json, null)
        // All nodes of a template have the same mistakes.
        if (this.issueCount > before) return
      }
    } catch (error) {
      if (!(error instanceof InvalidInput)) throw error
      for (const { path, message } of error.issues) this.report(place, path === '' ? 'metadata.nodes' : `spec.${path}`, message)
    }
  }

  private one(place: Place, kind: KindName, name: unknown, given: Json, resourceVersion: string | null) {
    if (this.objects.length >= MAX_OBJECTS) {
      if (this.objects.length === MAX_OBJECTS && this.issueCount === 0)
        this.report(place, '', `the manifests have more than ${MAX_OBJECTS} objects; apply parts of them`)
      return
    }
    const definition = kindOf(kind)
    const { document, prefix, paths, specPath = 'spec' } = place
    const pathOf = (path: string) => paths?.[path] ?? [prefix, specPath, path].filter(Boolean).join('.')
    const parsedName = definition.name.safeParse(name)
    const namePath = specPath === '' ? 'name' : 'metadata.name'
    if (!parsedName.success)
      this.report(
        place,
        namePath,
        name === undefined ? 'is missing' : parsedName.error.issues.map(({ message }) => message).join('; '),
      )
    const parsed = definition.spec.safeParse(given, { error: messageOf })
    const whole = { document, prefix: '' }
    for (const issue of parsed.success ? [] : parsed.error.issues) {
      const path = issue.path.map(String)
      if (issue.code === 'unrecognized_keys')
        for (const key of issue.keys)
          this.unknownField(
            whole,
            pathOf([...path, key].join('.')),
            issue.message.split(' ').filter(Boolean),
            path.length === 0 ? definition.hints?.[key] : undefined,
          )
      else
        this.report(
          whole,
          pathOf(path.join('.')),
          issue.message,
          'values' in issue && issue.values ? issue.values.map(String) : [],
        )
    }
    if (!parsed.success || !parsedName.success) return
    const object: ManifestObject = {
      kind,
      name: parsedName.data,
      spec: parsed.data,
      resourceVersion,
      source: {
        ...{ file: document.file, document: document.document },
        at: (path) =>
          document.at(
            path.startsWith('spec') ? pathOf(path.slice(5)) : [prefix, specPath === '' ? '' : path].filter(Boolean).join('.'),
          ),
      },
    }
    const again = this.seen.get(`${kind}/${object.name}`)
    if (again) return this.report(place, namePath, `${kind}/${object.name} is already in ${placeOf(again)}`)
    this.seen.set(`${kind}/${object.name}`, object)
    for (const { what, value, path } of definition.unique?.(parsed.data) ?? []) {
      const key = `${kind} ${what} ${value}`
      const other = this.values.get(key)
      if (other) this.report(whole, pathOf(path), `the ${what} ${value} is also given to ${other.name} in ${placeOf(other)}`)
      else this.values.set(key, object)
    }
    this.objects.push(object)
  }
}

const placeOf = ({ source }: ManifestObject): string => `${source.file}, line ${source.at('metadata.name').line}`
const shown = (value: unknown): string => (typeof value === 'string' ? value.slice(0, 80) : 'this value')
function hintFor(kind: unknown): string {
  const near = typeof kind === 'string' ? nearestName(kind, KINDS) : null
  return near ? `; did you mean ${near}?` : ''
}

/** Messages of zod's own checks. That of unknown fields lists the known ones. */
const messageOf: z.core.$ZodErrorMap = (issue) => {
  if (issue.code === 'unrecognized_keys') {
    const def = issue.inst?._zod.def as { shape?: object } | undefined
    return Object.keys(def?.shape ?? {}).join(' ') || ' '
  }
  if (issue.code === 'invalid_value') return `must be ${issue.values.length === 1 ? '' : 'one of '}${issue.values.join(', ')}`
  if (issue.code === 'invalid_type') return issue.input === undefined ? 'is missing' : `must be a ${issue.expected}`
  if (issue.code === 'too_big') return `must be at most ${issue.maximum}`
  if (issue.code === 'too_small') return `must be at least ${issue.minimum}`
  return undefined
}
