import { request } from './client.ts'
import { CliError, EXIT } from './errors.ts'
import { graphql } from './graphql.ts'
import { nodeNotFound } from './lookup.ts'
import { shellQuote } from './output.ts'
import { fetchAll } from './pages.ts'

/** Expands one term of a hostlist, `gpu[01-04,7]n[1-2]`, that the server has validated. */
function expand(term: string): string[] {
  const [, head = '', ranges, tail = ''] = /^([^[]*)\[([^\]]*)\](.*)$/.exec(term) ?? []
  if (ranges === undefined) return [term]
  const numbers = ranges.split(',').flatMap((range) => {
    const [low = '', high = low] = range.trim().split('-')
    return Array.from({ length: Number(high) - Number(low) + 1 }, (_, n) => String(Number(low) + n).padStart(low.length, '0'))
  })
  return numbers.flatMap((number) => expand(tail).map((rest) => head + number + rest))
}

/** Names of a hostlist without a node: those written in full, and those inside ranges. */
export function missingNames(hostlist: string, names: Set<string>): { plain: string[]; ranged: string[] } {
  const missing: { plain: string[]; ranged: string[] } = { plain: [], ranged: [] }
  for (const term of hostlist.match(/(?:\[[^\]]*\]|[^,[\]])+/g) ?? []) {
    const absent = expand(term.trim()).filter((name) => !names.has(name))
    missing[term.includes('[') ? 'ranged' : 'plain'].push(...absent)
  }
  return missing
}

/** The first names, and the number of the others. */
export const nameList = (names: string[], shown = 20): string =>
  names.length > shown ? `${names.slice(0, shown).join(', ')} and ${names.length - shown} more` : names.join(', ')

/** Prints the names of a range without a node to stderr; the other nodes are used. */
export function warnMissing(names: string[]): void {
  if (names.length > 0) process.stderr.write(`No node named ${nameList(names)}.\n`)
}

/** A selector that consists of names and ranges only. */
export const isHostlist = (selector: string): boolean => /^[\w.,[\]\s-]+$/.test(selector) && selector !== 'all'

export const SELECTOR_HELP =
  'nodes: names, gpu[01-08], gpu*, @group, tag:x, vendor:nvidia, xname:x1000c0*, nid:1-64, bmc:10.0.1.*, mac:02:00:5e:*, {query} or all'
export const ONE_NODE_HELP = 'a node: its name, or a selector that matches one node'

/** The error for a selector without nodes. */
export const noMatch = (selector: string): CliError => new CliError(`No nodes match \`${selector}\`.`, EXIT.notFound)

const NODES = graphql(`query NodeIds($filter: NodeFilter, $first: Int, $after: String) {
  nodes(filter: $filter, first: $first, after: $after) { edges { node { id name } } pageInfo { hasNextPage endCursor } }
}`)

/** The filter of the API for a selector. */
export const selectorFilter = (selector: string) => (isHostlist(selector) ? { hostlist: selector } : { limit: selector })

export type SelectedNode = { id: string; name: string }

/**
 * IDs and names of the nodes that match a selector. Names of a range without a node are printed to stderr.
 * @throws CliError when no node matches, or when a name that is written in full has no node
 */
export async function selectNodes(selector: string): Promise<SelectedNode[]> {
  const filter = selectorFilter(selector)
  const found = await fetchAll(async (page) => (await request(NODES, { filter, ...page })).nodes)
  if (isHostlist(selector)) {
    const { plain, ranged } = missingNames(selector, new Set(found.map((node) => node.name)))
    if (plain.length > 0) throw nodeNotFound(plain.join(', '))
    if (found.length > 0) warnMissing(ranged)
  }
  if (found.length === 0) throw noMatch(selector)
  return found
}

/** The node that a selector matches. @throws CliError when it matches no node or several */
export async function selectNode(selector: string): Promise<SelectedNode> {
  const nodes = await selectNodes(selector)
  if (nodes.length === 1) return nodes[0]!
  const names = nodes.map((node) => node.name)
  throw new CliError(
    `\`${selector}\` matches ${nodes.length} nodes: ${nameList(names, 5)}. Specify one, for example ${names[0]}. \`muster node list ${shellQuote(selector)}\` shows all.`,
    EXIT.usage,
  )
}

/** Name of a host in a run: a name as it is, because the node may be deleted; otherwise the node that the selector matches. */
export const hostName = async (selector: string): Promise<string> =>
  /^[\w.-]+$/.test(selector) && selector !== 'all' ? selector : (await selectNode(selector)).name
