import { createHash } from 'node:crypto'
import { slurmWordProblem } from '@muster/slurm/commands'
import type { ConfigNode } from '@muster/slurm/config'
import { and, arrayOverlaps, asc, eq, inArray, isNotNull, isNull, or } from 'drizzle-orm'
import { z } from 'zod'
import { slurmMessages } from '../clusters/index.ts'
import { slurmClusters, slurmNodes } from '../clusters/tables.ts'
import type { Ctx, Tx } from '../kernel/context.ts'
import { isOneOf, visibleTo } from '../kernel/db/rows.ts'
import { InvalidInput } from '../kernel/errors.ts'
import { accelerators, type ComputeNode, computeNodes } from '../nodes/tables.ts'
import { blockedNodes } from '../runs/index.ts'
import { selectNodes } from '../selection/index.ts'
import { slurmOperationNodes, slurmOperations } from '../slurm-operations/tables.ts'
import { configNodeOf } from './config-node.ts'

type Db = Tx | Ctx['db']

/** A node that may become part of a cluster. */
export type ScaleCandidate = {
  node: ComputeNode
  /** Its line in slurm.conf; null when it was never discovered. */
  config: ConfigNode | null
  /** Why it cannot; null when it can. */
  blockedReason: string | null
}

export const MAX_NODES = 10_000
/** Shards per whole GPU: the number of jobs that can share it; 0: no shards. */
export const ShardsPerGpu = z.int().min(0).max(1000).default(0)

/**
 * The nodes of a limit expression or of IDs, with the reasons why some cannot join a cluster.
 * @param existing names that the cluster has already
 * @throws InvalidInput nothing matches; NotFound
 */
export async function findCandidates(
  db: Db,
  ctx: Ctx,
  nodes: string | string[],
  existing: ReadonlySet<string>,
  path: string,
): Promise<ScaleCandidate[]> {
  const selected = await selectNodes({ ...ctx, db } as Ctx, nodes, db as Tx)
  if (selected.length === 0) throw new InvalidInput([{ path, message: 'no node matches' }])
  if (selected.length > MAX_NODES) throw new InvalidInput([{ path, message: `at most 10,000 nodes at once` }])
  const ids = selected.map(({ id }) => id)
  const rows = await db
    .select()
    .from(computeNodes)
    .where(and(visibleTo(ctx, computeNodes), isOneOf(computeNodes.id, ids)))
  const devices = await db
    .select()
    .from(accelerators)
    .where(and(visibleTo(ctx, accelerators), isOneOf(accelerators.nodeId, ids)))
    .orderBy(asc(accelerators.index))
  const byNode = Map.groupBy(devices, ({ nodeId }) => nodeId)
  const unfit = new Map<string, string>()
  for (const [reason, some] of await blockedNodes(ctx, db, selected)) for (const { id } of some) unfit.set(id, reason)
  const members = await memberships(db, ctx, ids)
  const names = new Set(existing)
  return rows
    .sort((a, b) => ids.indexOf(a.id) - ids.indexOf(b.id))
    .map((node) => {
      const config = configNodeOf(node, byNode.get(node.id) ?? [])
      const reason =
        unfit.get(node.id) ??
        members.get(node.id) ??
        (node.status === 'READY' ? null : slurmMessages.notReady({ status: node.status })) ??
        (config ? slurmWordProblem('node', config.name) : slurmMessages.notDiscovered()) ??
        (names.has(config!.name) ? slurmMessages.sameHostname({ hostname: config!.name }) : null)
      if (config) names.add(config.name)
      return { node, config, blockedReason: reason }
    })
}

/** Keeps other requests from giving the same nodes to a cluster until the transaction ends. */
export async function lockCandidates(tx: Tx, ctx: Ctx, nodeIds: string[]): Promise<void> {
  await tx
    .select({ id: computeNodes.id })
    .from(computeNodes)
    .where(and(visibleTo(ctx, computeNodes), isOneOf(computeNodes.id, nodeIds)))
    .orderBy(computeNodes.id)
    .for('no key update')
}

/** Nodes that are part of a cluster already, with the reason in words. */
async function memberships(db: Db, ctx: Ctx, ids: string[]): Promise<Map<string, string>> {
  const compute = await db
    .select({ nodeId: slurmNodes.nodeId, cluster: slurmClusters.name })
    .from(slurmNodes)
    .innerJoin(slurmClusters, eq(slurmClusters.id, slurmNodes.clusterId))
    .where(and(visibleTo(ctx, slurmNodes), isNotNull(slurmNodes.nodeId), isOneOf(slurmNodes.nodeId, ids)))
  const controllers = await db
    .select({
      controller: slurmClusters.controllerNodeId,
      backup: slurmClusters.backupNodeId,
      database: slurmClusters.databaseNodeId,
      cluster: slurmClusters.name,
    })
    .from(slurmClusters)
    .where(
      and(
        visibleTo(ctx, slurmClusters),
        or(
          inArray(slurmClusters.controllerNodeId, ids),
          inArray(slurmClusters.backupNodeId, ids),
          inArray(slurmClusters.databaseNodeId, ids),
        ),
      ),
    )
  const logins = await db
    .select({ nodeIds: slurmClusters.configNodeIds, cluster: slurmClusters.name })
    .from(slurmClusters)
    .where(and(visibleTo(ctx, slurmClusters), arrayOverlaps(slurmClusters.configNodeIds, ids)))
  const changing = await db
    .select({ nodeId: slurmOperationNodes.nodeId, cluster: slurmClusters.name })
    .from(slurmOperationNodes)
    .innerJoin(slurmOperations, eq(slurmOperations.id, slurmOperationNodes.operationId))
    .innerJoin(slurmClusters, eq(slurmClusters.id, slurmOperations.clusterId))
    .where(and(visibleTo(ctx, slurmOperations), isNull(slurmOperations.finishedAt), isOneOf(slurmOperationNodes.nodeId, ids)))
  return new Map([
    ...logins.flatMap(({ nodeIds, cluster }) => nodeIds.map((id) => [id, slurmMessages.hasConfig({ name: cluster })] as const)),
    ...changing.map(({ nodeId, cluster }) => [nodeId!, slurmMessages.inOperation({ name: cluster })] as const),
    ...controllers.flatMap(({ database, cluster }) =>
      database ? [[database, slurmMessages.hasDatabase({ name: cluster })] as const] : [],
    ),
    ...controllers.flatMap(({ controller, backup, cluster }) =>
      [controller, backup].flatMap((id) => (id ? [[id, slurmMessages.isController({ name: cluster })] as const] : [])),
    ),
    ...compute.map(({ nodeId, cluster }) => [nodeId!, slurmMessages.isNode({ name: cluster })] as const),
  ])
}

/** @throws InvalidInput naming each node with its reason */
export function assertUnblocked(candidates: readonly ScaleCandidate[], path: string): void {
  const blocked = candidates.filter(({ blockedReason }) => blockedReason !== null)
  if (blocked.length > 0)
    throw new InvalidInput(blocked.map(({ node, blockedReason }) => ({ path, message: `${node.name}: ${blockedReason}` })))
}

/** Changes when what a preview showed does. */
export const fingerprintOf = (shown: unknown): string =>
  createHash('sha256').update(JSON.stringify(shown)).digest('hex').slice(0, 24)
