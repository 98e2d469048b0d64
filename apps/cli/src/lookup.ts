import { request } from './client.ts'
import { CliError, EXIT } from './errors.ts'
import { graphql } from './graphql.ts'
import { emptyToNull } from './options.ts'
import { fetchAll } from './pages.ts'

export const runNotFound = (id: string) => new CliError(`No run ${id}. See \`muster runs\`.`, EXIT.notFound)
export const nodeNotFound = (name: string) => new CliError(`No node named ${name}. See \`muster node list\`.`, EXIT.notFound)
export const groupNotFound = (name: string) => new CliError(`No group named ${name}. See \`muster group list\`.`, EXIT.notFound)

const CREDENTIALS = graphql(`query CredentialIds($first: Int, $after: String) {
  credentials(first: $first, after: $after) { edges { node { id name kind } } pageInfo { hasNextPage endCursor } }
}`)

/** The credential with this name. */
export async function findCredential(name: string) {
  const all = await fetchAll(async (page) => (await request(CREDENTIALS, page)).credentials)
  const found = all.find((credential) => credential.name === name)
  if (!found) throw new CliError(`No credential named ${name}. See \`muster credential list\`.`, EXIT.notFound)
  return found
}

/** ID of the credential with this name. */
export const credentialId = async (name: string): Promise<string> => (await findCredential(name)).id

/** Credential ID for an option: null for an empty value, which clears the field. */
export const optionalCredentialId = async (name: string | undefined) => (name ? await credentialId(name) : emptyToNull(name))

/** ID of the group with this name. */
export async function groupId(name: string): Promise<string> {
  const { nodeGroup } = await request(graphql(`query GroupId($name: String!) { nodeGroup(name: $name) { id } }`), { name })
  if (!nodeGroup) throw groupNotFound(name)
  return nodeGroup.id
}

const BUNDLES = graphql(`query Bundles($first: Int, $after: String) {
  playbookBundles(first: $first, after: $after) {
    edges { node { id name sha256 sizeBytes createdBy { name } createdAt deleteBlockedReason } }
    pageInfo { hasNextPage endCursor }
  }
}`)

/** All playbook bundles, newest last. */
export const allBundles = () => fetchAll(async (page) => (await request(BUNDLES, page)).playbookBundles)

const WORKERS = graphql(`query WorkerIds($first: Int, $after: String) {
  workers(first: $first, after: $after) { edges { node { id name } } pageInfo { hasNextPage endCursor } }
}`)

/** ID of the worker with this name. */
export async function workerId(name: string): Promise<string> {
  const all = await fetchAll(async (page) => (await request(WORKERS, page)).workers)
  const found = all.find((worker) => worker.name === name)
  if (!found) throw new CliError(`No worker named ${name}. See \`muster worker list\`.`, EXIT.notFound)
  return found.id
}
