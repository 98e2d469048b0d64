import { type ConfigFiles, controllerNames, parseConfig } from '@muster/slurm/config'
import { and, arrayOverlaps, eq, inArray, isNull, ne, or, sql } from 'drizzle-orm'
import { type SlurmCluster, slurmClusters, slurmNodes } from '../clusters/tables.ts'
import { type Ctx, permissionDeniedReason, type Tx } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { Conflict, NotFound } from '../kernel/errors.ts'
import type { Permission } from '../kernel/permissions.ts'
import { computeNodes } from '../nodes/tables.ts'

type Db = Tx | Ctx['db']

/** @throws NotFound */
export async function findCluster(db: Db, ctx: Ctx, id: string): Promise<SlurmCluster> {
  const [cluster] = await db
    .select()
    .from(slurmClusters)
    .where(and(visibleTo(ctx, slurmClusters), eq(slurmClusters.id, id)))
  if (!cluster) throw new NotFound(`There is no cluster ${id}.`)
  return cluster
}

export type ConfigHost = { nodeId: string; name: string }
/** `controller` is its name in slurm.conf, in lower case and without domain; null when that is not known. */
export type ControllerHost = ConfigHost & { controller: string | null }

/** Files that the hosts have, and get. Null: they have none. */
export type FileChange = { from: ConfigFiles | null; to: ConfigFiles }

/**
 * Nodes with configuration files of their own: the controllers, and those that the import named.
 * @param permission what the caller does with these nodes
 * @param change adds the controllers that only its new files name
 * @throws Conflict as `controllerHosts`
 */
export async function configHosts(
  db: Db,
  ctx: Ctx,
  cluster: SlurmCluster,
  permission: Permission,
  change?: FileChange,
): Promise<ConfigHost[]> {
  const controllers = await controllerHosts(db, ctx, cluster, permission, change)
  const others = cluster.configNodeIds.filter((id) => !controllers.some(({ nodeId }) => nodeId === id))
  return [...controllers.map(({ nodeId, name }) => ({ nodeId, name })), ...(await hostsOf(db, ctx, others))]
}

/**
 * Nodes of the inventory on which slurmctld runs, the primary first. The node on which Muster runs the commands may be another one, such
 * as a login node. Before the first refresh it counts as the controller. What slurmctld reports chooses no node of another cluster, and
 * no further node for a caller with a grant for the cluster.
 * @throws Conflict a controller is no node of the inventory or one of another cluster, or several nodes fit
 */
export async function controllerHosts(
  db: Db,
  ctx: Ctx,
  cluster: SlurmCluster,
  permission: Permission,
  change?: FileChange,
): Promise<ControllerHost[]> {
  const { controllerNodeId, backupNodeId, name } = cluster
  if (controllerNodeId === null) throw new Conflict(`The cluster ${name} has no controller node. Choose one.`)
  const own = [controllerNodeId, ...(backupNodeId === null ? [] : [backupNodeId])]
  const reported = cluster.kind === 'MANAGED' ? [] : reportedControllers(cluster)
  const where = `slurmctld of the cluster ${name} runs on`
  const present =
    reported.length === 0
      ? (await hostsOf(db, ctx, own)).map((host) => ({
          ...host,
          controller: cluster.kind === 'MANAGED' ? shortName(host.name) : null,
        }))
      : await findControllers(db, ctx, cluster, permission, reported, where)
  const known = new Set([...reported, ...controllersIn(change?.from ?? null)].map((controller) => controller.name))
  const added = controllersIn(change?.from ? change.to : null).filter((controller) => !known.has(controller.name))
  const adds = `The new configuration of the cluster ${name} adds the controller`
  const further = await findControllers(db, ctx, cluster, permission, added, adds)
  return [...present, ...further.filter(({ nodeId }) => !present.some((host) => host.nodeId === nodeId))]
}

const shortName = (name: string): string => name.toLowerCase().split('.')[0]!

/** Names without domain, and addresses, in lower case. */
export const controllersIn = (files: ConfigFiles | null): Controller[] =>
  controllerNames(parseConfig((files?.['slurm.conf'] ?? '').toLowerCase())).map(({ name, address }) => ({
    name: shortName(name),
    address,
  }))

type Controller = { name: string; address: string }

/** @param where begins the text of errors, before the name of the controller */
async function findControllers(
  db: Db,
  ctx: Ctx,
  cluster: SlurmCluster,
  permission: Permission,
  controllers: Controller[],
  where: string,
): Promise<ControllerHost[]> {
  if (controllers.length === 0) return []
  const { controllerNodeId, backupNodeId, configNodeIds } = cluster
  const chosen = [controllerNodeId, backupNodeId, ...configNodeIds]
  const words = controllers.flatMap((controller) => [controller.name, controller.address])
  const host = sql<string>`lower(${computeNodes.host})`
  const hostname = sql<string | null>`lower(split_part(${computeNodes.facts}->>'hostname', '.', 1))`
  const label = sql<string>`lower(${computeNodes.name})`
  const nodes = await db
    .select({ nodeId: computeNodes.id, name: computeNodes.name, host, hostname, label })
    .from(computeNodes)
    .where(
      and(
        visibleTo(ctx, computeNodes),
        isNull(computeNodes.decommissionedAt),
        or(inArray(host, words), inArray(hostname, words), inArray(label, words)),
      ),
    )
  const owners = await otherClusters(
    db,
    ctx,
    cluster,
    nodes.map(({ nodeId }) => nodeId),
  )
  return controllers.map((controller) => {
    const attempts = [
      nodes.filter(({ host }) => host === controller.address || host === controller.name),
      nodes.filter(({ hostname }) => hostname === controller.name),
      nodes.filter(({ label }) => label === controller.name),
    ]
    const isFitting = ({ length }: unknown[]) => length > 0
    const preferred = attempts.map((some) => some.filter(({ nodeId }) => chosen.includes(nodeId))).find(isFitting)
    const [found, another] = preferred ?? attempts.find(isFitting) ?? []
    const subject = `${where} ${controller.name}`
    if (!found)
      throw new Conflict(
        `${subject}, which is no node of the inventory, so its files cannot be read or written. Add it as a node with its host name or address and discover it, then try again.`,
      )
    if (another)
      throw new Conflict(
        `${subject}, which may be the node ${found.name} or ${another.name}. Choose one of them as the controller of the cluster, then try again.`,
      )
    if (!preferred) assertUsable(ctx, cluster, found, owners.get(found.nodeId), permission, subject)
    return { nodeId: found.nodeId, name: found.name, controller: controller.name }
  })
}

/** @throws Conflict the node is of another cluster, or the caller only has a grant for the cluster */
function assertUsable(
  { actor }: Ctx,
  cluster: SlurmCluster,
  node: ConfigHost,
  owner: string | undefined,
  permission: Permission,
  subject: string,
): void {
  const role = `controller or backup of the cluster ${cluster.name}, then try again.`
  if (owner !== undefined)
    throw new Conflict(
      `${subject}. The node ${node.name} fits, but belongs to the cluster ${owner}. Choose the node on which slurmctld runs as ${role}`,
    )
  if (permissionDeniedReason(actor, permission) !== null)
    throw new Conflict(
      `${subject}. The node ${node.name} fits, but your grant for the cluster gives no access to further nodes. Let an administrator choose it as ${role}`,
    )
}

/** Names of other clusters that have some of the nodes, by node ID. */
async function otherClusters(db: Db, ctx: Ctx, { id }: SlurmCluster, nodeIds: string[]): Promise<Map<string, string>> {
  if (nodeIds.length === 0) return new Map()
  const { controllerNodeId, backupNodeId, databaseNodeId, configNodeIds } = slurmClusters
  const clusters = await db
    .select({ name: slurmClusters.name, controllerNodeId, backupNodeId, databaseNodeId, configNodeIds })
    .from(slurmClusters)
    .where(
      and(
        visibleTo(ctx, slurmClusters),
        ne(slurmClusters.id, id),
        or(
          inArray(controllerNodeId, nodeIds),
          inArray(backupNodeId, nodeIds),
          inArray(databaseNodeId, nodeIds),
          arrayOverlaps(configNodeIds, nodeIds),
        ),
      ),
    )
  const matched = await db
    .select({ nodeId: slurmNodes.nodeId, name: slurmClusters.name })
    .from(slurmNodes)
    .innerJoin(slurmClusters, eq(slurmClusters.id, slurmNodes.clusterId))
    .where(and(visibleTo(ctx, slurmNodes), ne(slurmNodes.clusterId, id), inArray(slurmNodes.nodeId, nodeIds)))
  return new Map([
    ...matched.map(({ nodeId, name }) => [nodeId!, name] as const),
    ...clusters.flatMap(({ name, controllerNodeId, backupNodeId, databaseNodeId, configNodeIds }) =>
      [...configNodeIds, databaseNodeId, backupNodeId, controllerNodeId].flatMap((nodeId) =>
        nodeId === null ? [] : [[nodeId, name] as const],
      ),
    ),
  ])
}

async function hostsOf(db: Db, ctx: Ctx, ids: string[]): Promise<ConfigHost[]> {
  const nodes = await db
    .select({ nodeId: computeNodes.id, name: computeNodes.name })
    .from(computeNodes)
    .where(and(visibleTo(ctx, computeNodes), inArray(computeNodes.id, ids)))
  return nodes.sort((a, b) => ids.indexOf(a.nodeId) - ids.indexOf(b.nodeId))
}

/** Names and addresses in lower case, as `scontrol show config` lists them; empty before the first refresh. */
const reportedControllers = ({ settings }: Pick<SlurmCluster, 'settings'>): Controller[] =>
  Object.entries(settings)
    .flatMap(([key, value]) => {
      const [, index] = /^SlurmctldHost\[(\d+)\]$/.exec(key) ?? []
      const [, name, address] = /^([^(\s]+)(?:\(([^)]+)\))?$/.exec(value.toLowerCase()) ?? []
      return index && name ? [{ index: Number(index), name: name.split('.')[0]!, address: address ?? name }] : []
    })
    .sort((a, b) => a.index - b.index)
