import { and, eq, sql } from 'drizzle-orm'
import { audit } from '../../audit/index.ts'
import type { Ctx, Tx } from '../../kernel/context.ts'
import { visibleTo } from '../../kernel/db/rows.ts'
import { Conflict, NotFound } from '../../kernel/errors.ts'
import { slurmClusterAudit } from '../audit-actions.ts'
import { slurmLookupChanged } from '../change-events.ts'
import { slurmLookupQueue } from '../queues.ts'
import { type SlurmCluster, type SlurmLookup, type SlurmLookupRequest, slurmClusters, slurmLookups } from '../tables.ts'

/** Waiting and running ones of a cluster: each is work for its controller or its database. */
const MAX_UNFINISHED = 20
/** Of a cluster: results stay in the database for an hour. */
const MAX_STORED = 200

/** Locks the cluster, so that parallel requests count each other. @throws NotFound; Conflict it has no controller node, or too many lookups have not finished */
export async function findLookupCluster(tx: Tx, ctx: Ctx, clusterId: string): Promise<SlurmCluster> {
  const [cluster] = await tx
    .select()
    .from(slurmClusters)
    .where(and(visibleTo(ctx, slurmClusters), eq(slurmClusters.id, clusterId)))
    .for('no key update')
  if (!cluster) throw new NotFound(`There is no cluster ${clusterId}.`)
  if (!cluster.controllerNodeId && !cluster.backupNodeId)
    throw new Conflict(`The cluster ${cluster.name} has no controller node. Choose one.`)
  return cluster
}

/** Stores a lookup for a worker, in the transaction of the caller. @param cluster from `findLookupCluster`, which locks it */
export async function insertLookup(tx: Tx, ctx: Ctx, cluster: SlurmCluster, request: SlurmLookupRequest): Promise<SlurmLookup> {
  const { clusterId, finishedAt } = slurmLookups
  const [{ stored, unfinished } = { stored: 0, unfinished: 0 }] = await tx
    .select({ stored: sql<number>`count(*)::int`, unfinished: sql<number>`(count(*) filter (where ${finishedAt} is null))::int` })
    .from(slurmLookups)
    .where(and(visibleTo(ctx, slurmLookups), eq(clusterId, cluster.id)))
  if (unfinished >= MAX_UNFINISHED)
    throw new Conflict(`${unfinished} lookups in ${cluster.name} have not finished. Try again in a minute.`)
  if (stored >= MAX_STORED)
    throw new Conflict(`${cluster.name} has had ${stored} lookups within an hour, which is the limit. Try again later.`)
  const [lookup] = await tx.insert(slurmLookups).values({ tenantId: ctx.tenantId, clusterId: cluster.id, request }).returning()
  await ctx.queue.send(tx, slurmLookupQueue, [lookup!])
  await audit(tx, ctx, slurmClusterAudit.lookUp, cluster, request)
  ctx.notify(slurmLookupChanged(lookup!))
  return lookup!
}
