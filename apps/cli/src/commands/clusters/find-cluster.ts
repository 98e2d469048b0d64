import { request, subscribe } from '../../client.ts'
import type { Command } from '../../command.ts'
import { CliError, EXIT } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { ago } from '../../output.ts'
import { fetchAll } from '../../pages.ts'
import { nameList } from '../../selector.ts'

const CLUSTERS = graphql(`query ClusterIds($first: Int, $after: String) {
  slurmClusters(first: $first, after: $after) { edges { node { id name } } pageInfo { hasNextPage endCursor } }
}`)

/** ID of the cluster with this name. */
export async function clusterId(name: string): Promise<string> {
  const { slurmCluster } = await request(graphql(`query ClusterId($name: String!) { slurmCluster(name: $name) { id } }`), {
    name,
  })
  if (!slurmCluster) throw clusterNotFound(name)
  return slurmCluster.id
}

export const clusterNotFound = (name: string) =>
  new CliError(`No cluster named ${name}. See \`muster cluster list\`.`, EXIT.notFound)

/** Adds `-c, --cluster`. */
export const withCluster = (command: Command): Command =>
  command.option('-c, --cluster <name>', 'the cluster; needed when there are several')

/** ID of the cluster of `--cluster`, or of the only cluster. */
export async function givenCluster({ cluster }: { cluster?: string }): Promise<string> {
  if (cluster !== undefined) return clusterId(cluster)
  const all = await fetchAll(async (page) => (await request(CLUSTERS, page)).slurmClusters)
  if (all.length === 1) return all[0]!.id
  if (all.length === 0) throw new CliError('No clusters yet. Add one with `muster cluster add`.', EXIT.notFound)
  throw new CliError(
    `There are several clusters: ${nameList(all.map(({ name }) => name))}. Choose one with --cluster.`,
    EXIT.usage,
  )
}

/** Adds `-w, --watch`. */
export const withWatch = (command: Command): Command =>
  command.option('-w, --watch', 'print again after each change, until Ctrl-C')

/** Prints once or, with `watch`, after each refresh of the cluster too; without an ID, of every cluster. */
export async function printOrWatch(id: string | null, { watch }: { watch?: boolean }, print: () => Promise<void>): Promise<void> {
  if (!watch) return print()
  const stop = new AbortController()
  process.once('SIGINT', () => stop.abort())
  const updates = graphql(`subscription ClusterUpdates($id: ID) { slurmClusterUpdated(id: $id) { id } }`)
  const draw = async () => {
    if (process.stdout.isTTY) process.stdout.write('\u001b[H\u001b[2J')
    await print()
  }
  // With an ID, the subscription emits the current state first.
  if (id === null) await draw()
  for await (const _update of subscribe(updates, () => ({ id }), stop.signal)) await draw()
}

type Freshness = { state: string; refreshedAt: string | null; failingSince: string | null }

/** Whether the data is current, and how old it is. */
export function freshness({ state, refreshedAt, failingSince }: Freshness): string {
  if (state === 'NOT_ANSWERING')
    return `NOT ANSWERING since ${ago(failingSince)}${refreshedAt ? `; data of ${ago(refreshedAt)}` : '; never read'}`
  return refreshedAt ? `${state}, read ${ago(refreshedAt)}` : state
}

/** Warns on stderr that what follows is old. */
export function warnIfOld(cluster: Freshness & { name: string; lastError: string | null }): void {
  if (cluster.state === 'NOT_ANSWERING')
    process.stderr.write(`${cluster.name}: ${freshness(cluster)}. ${cluster.lastError ?? ''}\n`)
}
