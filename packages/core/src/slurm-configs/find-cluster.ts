import { and, eq, inArray } from 'drizzle-orm'
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

/** Nodes with configuration files of their own: the controllers, and those that the import named. */
export async function configHosts(db: Db, ctx: Ctx, cluster: SlurmCluster): Promise<ConfigHost[]> {
  const { controllerNodeId, backupNodeId, configNodeIds, name } = cluster
  const ids = [...new Set([controllerNodeId, backupNodeId, ...configNodeIds].filter((id) => id !== null))]
  if (controllerNodeId === null) throw new Conflict(`The cluster ${name} has no controller node. Choose one.`)
  const nodes = await db
    .select({ nodeId: computeNodes.id, name: computeNodes.name })
    .from(computeNodes)
    .where(and(visibleTo(ctx, computeNodes), inArray(computeNodes.id, ids)))
  return nodes.sort((a, b) => ids.indexOf(a.nodeId) - ids.indexOf(b.nodeId))
}
