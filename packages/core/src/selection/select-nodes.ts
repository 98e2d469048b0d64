import { and, not, or, type SQL, sql } from 'drizzle-orm'
import { type GroupTree, isInGroup, matchesNodeQuery, readGroupTree } from '../groups/index.ts'
import { NodeName } from '../kernel/address.ts'
import type { Ctx, Tx } from '../kernel/context.ts'
import type { Db } from '../kernel/db/client.ts'
import { isOneOf, visibleTo } from '../kernel/db/rows.ts'
import { type InputIssue, InvalidInput } from '../kernel/errors.ts'
import { formatXname, macPattern, parseHardwareAddress, parseXname } from '../nodes/network/index.ts'
import {
  accelerators,
  computeNodes,
  LEAN_NODE,
  type LeanNode,
  NODE_STATUSES,
  type NodeStatus,
  nodeBmcs,
  nodeInterfaces,
} from '../nodes/tables.ts'
import { findNodes } from './find-nodes.ts'
import { expandHostlist, foldHostlist, splitHostlist } from './hostlist.ts'
import type { NodeColumns } from './query/fields.ts'
import { findVendor, unknownVendor } from './vendors.ts'

type Term = { isWithout: boolean } & (
  | { kind: 'all' }
  | { kind: 'names'; names: string[] }
  | { kind: 'glob'; pattern: string }
  | { kind: 'xname'; values: string[] }
  | { kind: 'bmc' | 'mac'; pattern: string }
  | { kind: 'nid'; ranges: [first: number, last: number][] }
  | { kind: 'group' | 'tag' | 'vendor' | 'query'; value: string }
  | { kind: 'status'; value: NodeStatus }
)

const issue = (message: string): InputIssue => ({ path: 'limit', message })

/**
 * Parses a limit expression. Terms are names, hostlists (`gpu[001-064]`), globs (`gpu*`), `@group`, `tag:x`, `status:READY`,
 * `vendor:amd`, `xname:x1000c0*` (or a hostlist), `nid:1-64`, `bmc:10.0.1.*`,
 * `mac:02:00:5e:*` and `all`. Queries are in braces (`{memory >= 1TiB and tag = prod}`, see parseNodeQuery). A comma is a union;
 * `!` excludes. With only `!` terms, they are excluded from all nodes.
 * @throws InvalidInput at limit
 */
export function parseLimit(limit: string): Term[] {
  const wrong: InputIssue[] = []
  const terms: Term[] = []
  // Queries contain commas and brackets, so a number in braces replaces each one until the limit is split.
  const queries: string[] = []
  let parts: string[] = []
  try {
    parts = splitHostlist(limit.replace(QUERY, (_, query: string) => `{${queries.push(query) - 1}}`))
  } catch (error) {
    throw atLimit(error)
  }
  for (const part of parts) {
    const isWithout = part.startsWith('!')
    const text = isWithout ? part.slice(1).trim() : part
    const query = queries[Number(/^\{(\d+)\}$/.exec(text)?.[1])]
    const word = /^(@|tag:|status:|vendor:|xname:|nid:|bmc:|mac:)(.+)$/su.exec(text)
    const value = word?.[2] ?? ''
    if (/[\u0000-\u001f]/.test(text)) wrong.push(issue('must not contain control characters'))
    else if (query !== undefined) terms.push({ isWithout, kind: 'query', value: query })
    else if (text === 'all') terms.push({ isWithout, kind: 'all' })
    else if (word?.[1] === 'status:') {
      const status = NODE_STATUSES.find((s) => s === value.toUpperCase())
      if (status) terms.push({ isWithout, kind: 'status', value: status })
      else wrong.push(issue(`there is no status ${value}; there are ${NODE_STATUSES.join(', ')}`))
    } else if (word?.[1] === 'vendor:') {
      const vendor = findVendor(value)
      if (vendor) terms.push({ isWithout, kind: 'vendor', value: vendor })
      else wrong.push(issue(unknownVendor(value)))
    } else if (word?.[1] === 'xname:') {
      try {
        const values = xnamePatterns(value)
        if (values) terms.push({ isWithout, kind: 'xname', values })
        else wrong.push(issue(`${JSON.stringify(value.slice(0, 80))} is not an xname, a hostlist or a pattern such as x1000c0*`))
      } catch (error) {
        throw atLimit(error)
      }
    } else if (word?.[1] === 'nid:') {
      const ranges = nidRanges(value)
      if (ranges) terms.push({ isWithout, kind: 'nid', ranges })
      else wrong.push(issue(`${JSON.stringify(value.slice(0, 80))} is not a range of NIDs such as 1-64 or [1-64,100]`))
    } else if (word?.[1] === 'bmc:') {
      if (/^[A-Za-z0-9.:*?_-]{1,253}$/.test(value)) terms.push({ isWithout, kind: 'bmc', pattern: value.toLowerCase() })
      else wrong.push(issue(`${JSON.stringify(value.slice(0, 80))} is not the address of a BMC, or a pattern such as 10.0.1.*`))
    } else if (word?.[1] === 'mac:') {
      const isPattern = /^[0-9a-f:.*?-]{1,64}$/i.test(value) && /[*?]/.test(value)
      const pattern = isPattern ? macPattern(value) : parseHardwareAddress(value)
      if (pattern) terms.push({ isWithout, kind: 'mac', pattern })
      else
        wrong.push(issue(`${JSON.stringify(value.slice(0, 80))} is not the MAC of an interface, or a pattern such as 02:00:5e:*`))
    } else if (word) {
      terms.push({ isWithout, kind: word[1] === '@' ? 'group' : 'tag', value })
    } else if (/[*?]/.test(text) && /^[A-Za-z0-9._*?-]+$/.test(text)) terms.push({ isWithout, kind: 'glob', pattern: text })
    else {
      try {
        const names = expandHostlist(text)
        const bad = names.find((name) => !NodeName.safeParse(name).success)
        if (bad === undefined && names.length > 0) terms.push({ isWithout, kind: 'names', names })
        else
          wrong.push(
            issue(
              `${JSON.stringify((bad ?? part).slice(0, 80))} is not a node name, hostlist, @group, tag:, status:, vendor:, xname:, nid:, bmc:, mac: or {query}`,
            ),
          )
      } catch (error) {
        throw atLimit(error)
      }
    }
  }
  if (terms.length === 0 && wrong.length === 0) wrong.push(issue('must name at least one node'))
  if (wrong.length > 0) throw new InvalidInput(wrong)
  return terms
}

/** A query in braces, which may contain braces in quotes. */
const QUERY = /\{((?:[^{}"']|"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')*)\}/gsu

/** Normalized xnames and patterns of a term, or null. */
function xnamePatterns(text: string): string[] | null {
  if (/[*?]/.test(text)) return /^[a-z0-9*?]{1,64}$/i.test(text) ? [likePattern(text.toLowerCase())] : null
  const names = expandHostlist(text).map(parseXname)
  return names.length > 0 && names.every((name) => name !== null) ? names.map((name) => formatXname(name!)) : null
}

/** Ranges of `1-64` or `[1-64,100]`; null when it has another form. */
function nidRanges(text: string): [number, number][] | null {
  const parts = /^\[(.+)\]$/.exec(text)?.[1]?.split(',') ?? [text]
  const ranges = parts.map((part): [number, number] => {
    const [, first, last = first] = /^\s*(\d{1,10})(?:-(\d{1,10}))?\s*$/.exec(part) ?? []
    return [Number(first), Number(last)]
  })
  return ranges.length <= 1000 && ranges.every(([first, last]) => first <= last) ? ranges : null
}

const likePattern = (glob: string) => glob.replaceAll('_', '\\_').replaceAll('*', '%').replaceAll('?', '_')

const atLimit = (error: unknown): unknown =>
  error instanceof InvalidInput ? new InvalidInput(error.issues.map(({ message }) => issue(message))) : error

function condition(term: Term, tree: GroupTree, n: NodeColumns): SQL {
  switch (term.kind) {
    case 'all':
      return sql`true`
    case 'names':
      return isOneOf(n.name, term.names, 'text')
    case 'glob':
      return sql`${n.name} like ${likePattern(term.pattern)}`
    case 'xname':
      return sql`${n.xname} like any(${sql.param(term.values)}::text[])`
    case 'bmc':
      return sql`exists (select from ${nodeBmcs} b where b.node_id = ${n.id} and b.address like ${likePattern(term.pattern)})`
    case 'mac':
      return sql`exists (select from ${nodeInterfaces} i where i.node_id = ${n.id} and i.mac like ${likePattern(term.pattern)})`
    case 'nid':
      return or(...term.ranges.map(([first, last]) => sql`${n.nid} between ${first}::bigint and ${last}::bigint`))!
    case 'group':
      return isInGroup(tree, [term.value], n)
    case 'query':
      return matchesNodeQuery(tree, term.value, n, 'limit')
    case 'tag':
      return sql`${n.tags} @> array[${term.value}]::text[]`
    case 'status':
      return sql`${n.status} = ${term.value}`
    case 'vendor':
      return sql`exists (select from ${accelerators} a where a.node_id = ${n.id} and a.vendor = ${term.value})`
  }
}

/**
 * Converts a limit expression (see `parseLimit`) to a condition on `n`, the table of nodes or an alias of it. Unknown names match
 * nothing.
 * @throws InvalidInput at limit for invalid syntax and unknown groups
 */
export function limitCondition(limit: string, tree: GroupTree, n: NodeColumns): SQL {
  const terms = parseLimit(limit)
  const unknown = terms.find((term) => term.kind === 'group' && !tree.byName.has(term.value))
  if (unknown?.kind === 'group') throw new InvalidInput([issue(`there is no group ${unknown.value}`)])
  return termsCondition(terms, tree, n)
}

function termsCondition(terms: Term[], tree: GroupTree, n: NodeColumns): SQL {
  const included = terms.filter((term) => !term.isWithout).map((term) => condition(term, tree, n))
  const excluded = terms.filter((term) => term.isWithout).map((term) => condition(term, tree, n))
  return and(included.length > 0 ? or(...included) : sql`true`, excluded.length > 0 ? not(or(...excluded)!) : undefined)!
}

/**
 * Returns the nodes in service that a limit expression (see `parseLimit`) or a list of ids selects, by name; ids keep their
 * order.
 * @param tx inside it the nodes stay in service until its end
 * @throws InvalidInput at limit naming unknown nodes and groups, and decommissioned nodes
 * @throws NotFound, Conflict for ids, as `findNodes`
 */
export async function selectNodes(ctx: Ctx, selection: string | string[], tx?: Tx): Promise<LeanNode[]> {
  if (Array.isArray(selection)) return findNodes(ctx, [...new Set(selection)], tx)
  const terms = parseLimit(selection)
  const db = tx ?? ctx.db
  const tree = await readGroupTree(db, ctx)
  await assertKnown(db, ctx, terms, tree)
  const query = db
    .select(LEAN_NODE)
    .from(computeNodes)
    .where(
      and(visibleTo(ctx, computeNodes), sql`${computeNodes.decommissionedAt} is null`, termsCondition(terms, tree, computeNodes)),
    )
  // Lock in one order, so that concurrent transactions do not deadlock.
  const rows = tx ? await query.orderBy(computeNodes.id).for('share') : await query
  const byName = new Intl.Collator('en', { numeric: true })
  return rows.sort((a, b) => byName.compare(a.name, b.name))
}

async function assertKnown(db: Db | Tx, ctx: Ctx, terms: Term[], tree: GroupTree): Promise<void> {
  const wrong: InputIssue[] = []
  const names = [...new Set(terms.flatMap((term) => (term.kind === 'names' ? term.names : [])))]
  if (names.length > 0) {
    const rows = await db
      .select({ name: computeNodes.name, decommissionedAt: computeNodes.decommissionedAt })
      .from(computeNodes)
      .where(and(visibleTo(ctx, computeNodes), isOneOf(computeNodes.name, names, 'text')))
    const known = new Set(rows.map((row) => row.name))
    const unknown = names.filter((name) => !known.has(name))
    if (unknown.length > 0) wrong.push(issue(`there is no node ${shorten(foldHostlist(unknown))}`))
    const wanted = new Set(terms.flatMap((term) => (term.kind === 'names' && !term.isWithout ? term.names : [])))
    const retired = rows.filter((row) => row.decommissionedAt && wanted.has(row.name)).map((row) => row.name)
    if (retired.length > 0) wrong.push(issue(`${shorten(foldHostlist(retired))}: decommissioned; recommission or exclude them`))
  }
  const groups = new Set(terms.flatMap((term) => (term.kind === 'group' && !tree.byName.has(term.value) ? [term.value] : [])))
  if (groups.size > 0) wrong.push(issue(`there is no group ${[...groups].join(', ')}`))
  if (wrong.length > 0) throw new InvalidInput(wrong)
}

const shorten = (text: string) => (text.length > 300 ? `${text.slice(0, 300)}…` : text)
