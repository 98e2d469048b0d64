import { request } from './client.ts'
import { CliError, EXIT } from './errors.ts'
import { graphql } from './graphql.ts'
import { orNull } from './options.ts'
import { rowsOf } from './pages.ts'

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** The API's global id of a bare UUID; global ids pass through. */
export const globalId = (type: string, id: string) => (UUID.test(id) ? Buffer.from(`${type}:${id}`).toString('base64') : id)
/** The bare UUID of a global id, which is shorter to read and to type. */
export const bareId = (id: string) => Buffer.from(id, 'base64').toString('utf8').split(':')[1] ?? id

/** The error for an id that no run has. */
export const noRun = (id: string) => new CliError(`There is no run ${id}. See \`muster runs\`.`, EXIT.notFound)

/** The error for a name that no node has. */
export const noNode = (name: string) => new CliError(`No node is called ${name}. See \`muster node list\`.`, EXIT.notFound)

/** The names of one part of a hostlist, `gpu[01-04,7]n[1-2]`; the server has found it well formed. */
function expand(part: string): string[] {
  const [, head = '', ranges, tail = ''] = /^([^[]*)\[([^\]]*)\](.*)$/.exec(part) ?? []
  if (ranges === undefined) return [part]
  const numbers = ranges.split(',').flatMap((range) => {
    const [low = '', high = low] = range.trim().split('-')
    return Array.from({ length: Number(high) - Number(low) + 1 }, (_, n) => String(Number(low) + n).padStart(low.length, '0'))
  })
  return numbers.flatMap((number) => expand(tail).map((rest) => head + number + rest))
}

/** The names in a hostlist that no node has: those written out, and those inside of ranges. */
export function missingIn(hostlist: string, names: Set<string>): { plain: string[]; ranged: string[] } {
  const missing: { plain: string[]; ranged: string[] } = { plain: [], ranged: [] }
  for (const part of hostlist.split(/,(?![^[]*\])/)) {
    const absent = expand(part.trim()).filter((name) => !names.has(name))
    missing[part.includes('[') ? 'ranged' : 'plain'].push(...absent)
  }
  return missing
}

/** Say on stderr which names of a range no node has; the others are taken nevertheless. */
export function sayMissing(names: string[]): void {
  if (names.length === 0) return
  const rest = names.length - 20
  process.stderr.write(`No node is called ${names.slice(0, 20).join(', ')}${rest > 0 ? ` and ${rest} more` : ''}.\n`)
}

const NODES = graphql(`query NodeIds($hostlist: String!, $first: Int, $after: String) {
  nodes(filter: { hostlist: $hostlist }, first: $first, after: $after) { edges { node { id name } } pageInfo { hasNextPage endCursor } }
}`)

/**
 * Ids of the nodes named by a hostlist such as `gpu[01-08],cpu1`; of a range those that are there, and the others are named on stderr.
 * @throws CliError naming the ones that do not exist
 */
export async function nodeIds(hostlist: string): Promise<{ id: string; name: string }[]> {
  const found = await rowsOf(async (page) => (await request(NODES, { hostlist, ...page })).nodes)
  const { plain, ranged } = missingIn(hostlist, new Set(found.map((node) => node.name)))
  if (found.length === 0) throw noNode(hostlist)
  if (plain.length > 0) throw noNode(plain.join(','))
  sayMissing(ranged)
  return found
}

/** Id of the node with this name. */
export async function nodeIdOf(name: string): Promise<string> {
  const { computeNode } = await request(graphql(`query NodeIdOf($name: String!) { computeNode(name: $name) { id } }`), { name })
  if (!computeNode) throw noNode(name)
  return computeNode.id
}

/** Global id of a run: its UUID, its global id, or `last` for the newest one. */
export async function runId(id: string): Promise<string> {
  if (id !== 'last') {
    if (UUID.test(id)) return globalId('JobRun', id)
    if (UUID.test(bareId(id)) && id === globalId('JobRun', bareId(id))) return id
    throw new CliError(`${id} is not the id of a run. See \`muster runs\`, or say \`last\`.`, EXIT.notFound)
  }
  const { jobRuns } = await request(graphql(`query LastRun { jobRuns(first: 1) { edges { node { id } } } }`), {})
  const last = jobRuns.edges[0]?.node.id
  if (!last) throw new CliError('There is no run yet. Start one with `muster run TEMPLATE --limit all`.', EXIT.notFound)
  return last
}

/** Global id of the credential with this name. */
export const credentialId = async (name: string): Promise<string> => (await findCredential(name)).id

const CREDENTIALS = graphql(`query CredentialIds($first: Int, $after: String) {
  credentials(first: $first, after: $after) { edges { node { id name kind } } pageInfo { hasNextPage endCursor } }
}`)

/** The same for an option: null when it is given empty, which takes away. */
export const credentialIdIfGiven = async (name: string | undefined) => (name ? await credentialId(name) : orNull(name))

/** The credential with this name. */
export async function findCredential(name: string) {
  const all = await rowsOf(async (page) => (await request(CREDENTIALS, page)).credentials)
  const found = all.find((credential) => credential.name === name)
  if (!found) throw new CliError(`No credential is called ${name}. See \`muster credential list\`.`, EXIT.notFound)
  return found
}

/** Global id of the group with this name. */
export async function groupId(name: string): Promise<string> {
  const { nodeGroup } = await request(graphql(`query GroupId($name: String!) { nodeGroup(name: $name) { id } }`), { name })
  if (!nodeGroup) throw new CliError(`No group is called ${name}. See \`muster group list\`.`, EXIT.notFound)
  return nodeGroup.id
}

const BUNDLES = graphql(`query Bundles($first: Int, $after: String) {
  playbookBundles(first: $first, after: $after) {
    edges { node { id name sha256 size createdByName createdAt deleteBlockedReason } }
    pageInfo { hasNextPage endCursor }
  }
}`)

/** All playbook bundles, the newest last. */
export const allBundles = () => rowsOf(async (page) => (await request(BUNDLES, page)).playbookBundles)

/** Id of the worker with this name. */
export async function workerId(name: string): Promise<string> {
  const { workers } = await request(graphql(`query WorkerIds { workers { id name } }`), {})
  const found = workers.find((worker) => worker.name === name)
  if (!found) throw new CliError(`No worker is called ${name}. See \`muster worker list\`.`, EXIT.notFound)
  return found.id
}
