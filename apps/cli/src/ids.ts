import { request } from './client.ts'
import { CliError, EXIT } from './errors.ts'
import { graphql } from './graphql.ts'

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

/** The API's global id of a bare UUID; global ids pass through. */
export const globalId = (type: string, id: string) => (UUID.test(id) ? Buffer.from(`${type}:${id}`).toString('base64') : id)
/** The bare UUID of a global id, which is shorter to read and to type. */
export const bareId = (id: string) => Buffer.from(id, 'base64').toString('utf8').split(':')[1] ?? id

/** The error for a name that no node has. */
export const noNode = (name: string) => new CliError(`No node is called ${name}. See \`muster node list\`.`, EXIT.notFound)

/**
 * Ids of the nodes named by a hostlist such as `gpu[01-08],cpu1`; of a range those that are there.
 * @throws CliError naming the ones that do not exist
 */
export async function nodeIds(hostlist: string): Promise<{ id: string; name: string }[]> {
  const found: { id: string; name: string }[] = []
  let after: string | null = null
  do {
    const page: {
      nodes: { edges: { node: { id: string; name: string } }[]; pageInfo: { hasNextPage: boolean; endCursor: string | null } }
    } = await request(
      graphql(`query NodeIds($hostlist: String!, $after: String) {
          nodes(filter: { hostlist: $hostlist }, first: 500, after: $after) { edges { node { id name } } pageInfo { hasNextPage endCursor } }
        }`),
      { hostlist, after },
    )
    found.push(...page.nodes.edges.map((e) => e.node))
    after = page.nodes.pageInfo.hasNextPage ? page.nodes.pageInfo.endCursor : null
  } while (after)
  const names = new Set(found.map((node) => node.name))
  const missing = hostlist
    .split(/,(?![^[]*\])/)
    .filter((part) => (part.includes('[') ? found.length === 0 : !names.has(part.trim())))
  if (missing.length > 0) throw noNode(missing.join(','))
  return found
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

/** The credential with this name. */
export async function findCredential(name: string) {
  const { credentials } = await request(
    graphql(`query CredentialIds { credentials(first: 500) { edges { node { id name kind } } } }`),
    {},
  )
  const found = credentials.edges.find((e) => e.node.name === name)
  if (!found) throw new CliError(`No credential is called ${name}. See \`muster credential list\`.`, EXIT.notFound)
  return found.node
}
