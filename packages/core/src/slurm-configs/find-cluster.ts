import { and, eq, inArray, isNull, or, sql } from 'drizzle-orm'
import { type SlurmCluster, slurmClusters } from '../clusters/tables.ts'
import type { Ctx, Tx } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { Conflict, NotFound } from '../kernel/errors.ts'
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

/**
 * Nodes with configuration files of their own: the controllers, and those that the import named.
 * @throws Conflict as `controllerHosts`
 */
export async function configHosts(db: Db, ctx: Ctx, cluster: SlurmCluster): Promise<ConfigHost[]> {
  const controllers = await controllerHosts(db, ctx, cluster)
  const others = cluster.configNodeIds.filter((id) => !controllers.some(({ nodeId }) => nodeId === id))
  return [...controllers, ...(await hostsOf(db, ctx, others))]
}

/**
 * Nodes of the inventory on which slurmctld runs, the primary first. The node on which Muster runs the commands may be another one, such
 * as a login node. Before the first refresh it counts as the controller.
 * @throws Conflict a controller is no node of the inventory, or several nodes fit
 */
export async function controllerHosts(db: Db, ctx: Ctx, cluster: SlurmCluster): Promise<ConfigHost[]> {
  const { controllerNodeId, backupNodeId, name } = cluster
  if (controllerNodeId === null) throw new Conflict(`The cluster ${name} has no controller node. Choose one.`)
  const own = [controllerNodeId, ...(backupNodeId === null ? [] : [backupNodeId])]
  const reported = reportedControllers(cluster)
  if (reported.length === 0) return hostsOf(db, ctx, own)
  const words = reported.flatMap((controller) => [controller.name, controller.address])
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
  return reported.map((controller) => {
    const attempts = [
      nodes.filter(({ host }) => host === controller.address || host === controller.name),
      nodes.filter(({ hostname }) => hostname === controller.name),
      nodes.filter(({ label }) => label === controller.name),
    ]
    const fitting = attempts.find(({ length }) => length > 0) ?? []
    const preferred = fitting.filter(({ nodeId }) => own.includes(nodeId))
    const [found, another] = preferred.length > 0 ? preferred : fitting
    if (!found)
      throw new Conflict(
        `slurmctld of the cluster ${name} runs on ${controller.name}, which is no node of the inventory, so its files cannot be read or written. Add it as a node with its host name or address and discover it, then try again.`,
      )
    if (another)
      throw new Conflict(
        `slurmctld of the cluster ${name} runs on ${controller.name}, which may be the node ${found.name} or ${another.name}. Choose one of them as the controller of the cluster, then try again.`,
      )
    return { nodeId: found.nodeId, name: found.name }
  })
}

async function hostsOf(db: Db, ctx: Ctx, ids: string[]): Promise<ConfigHost[]> {
  const nodes = await db
    .select({ nodeId: computeNodes.id, name: computeNodes.name })
    .from(computeNodes)
    .where(and(visibleTo(ctx, computeNodes), inArray(computeNodes.id, ids)))
  return nodes.sort((a, b) => ids.indexOf(a.nodeId) - ids.indexOf(b.nodeId))
}

/** Names and addresses in lower case, as `scontrol show config` lists them; empty before the first refresh. */
const reportedControllers = ({ settings }: Pick<SlurmCluster, 'settings'>): { name: string; address: string }[] =>
  Object.entries(settings)
    .flatMap(([key, value]) => {
      const [, index] = /^SlurmctldHost\[(\d+)\]$/.exec(key) ?? []
      const [, name, address] = /^([^(\s]+)(?:\(([^)]+)\))?$/.exec(value.toLowerCase()) ?? []
      return index && name ? [{ index: Number(index), name: name.split('.')[0]!, address: address ?? name }] : []
    })
    .sort((a, b) => a.index - b.index)
