import { and, eq, ne } from 'drizzle-orm'
import { z } from 'zod'
import { audit } from '../../audit/index.ts'
import { authorize, type Ctx, inTransaction, type Tx } from '../../kernel/context.ts'
import { visibleTo } from '../../kernel/db/rows.ts'
import { Conflict, InvalidInput, NotFound, parseInput } from '../../kernel/errors.ts'
import { Id } from '../../kernel/input.ts'
import { computeNodes } from '../../nodes/tables.ts'
import { slurmNodeAudit } from '../audit-actions.ts'
import { slurmClusterChanged } from '../change-events.ts'
import { slurmClusterPermissions } from '../permissions.ts'
import { type SlurmNodeRow, slurmClusters, slurmNodeChoices, slurmNodes } from '../tables.ts'
import { lockMatches, matchNodes } from './match-nodes.ts'

export const MatchSlurmNodeInput = z.object({
  id: Id,
  /** Null: none of the inventory. */
  nodeId: Id.nullish(),
  /** Match it as if nobody had chosen. */
  automatic: z.boolean().default(false),
})

/**
 * Sets which node of the inventory a Slurm node is, or that it is none. The choice stays until it is changed.
 * @throws NotFound the Slurm node or the node; Conflict the node belongs to another cluster
 */
export async function matchSlurmNode(ctx: Ctx, input: z.input<typeof MatchSlurmNodeInput>): Promise<SlurmNodeRow> {
  authorize(ctx, slurmClusterPermissions.write)
  const { id, nodeId = null, automatic } = parseInput(MatchSlurmNodeInput, input)
  if (automatic && nodeId !== null)
    throw new InvalidInput([{ path: 'nodeId', message: 'must be omitted when the node is matched automatically' }])
  const scope = and(visibleTo(ctx, slurmNodes), eq(slurmNodes.id, id))
  return inTransaction(ctx, async (tx, ctx) => {
    await lockMatches(tx, ctx)
    if (nodeId !== null) await lockNode(tx, ctx, nodeId)
    const [row] = await tx
      .update(slurmNodes)
      .set({ nodeId, matchedBy: automatic ? null : 'MANUAL', matchConflict: null, candidateIds: [] })
      .where(scope)
      .returning()
    if (!row) throw new NotFound(`There is no Slurm node ${id}.`)
    if (nodeId !== null) await checkOneCluster(tx, ctx, row.clusterId, nodeId)
    await keepChoice(tx, row, automatic)
    if (automatic) await matchNodes(tx, ctx, row.clusterId)
    await audit(tx, ctx, slurmNodeAudit.match, row)
    ctx.notify(slurmClusterChanged({ id: row.clusterId, tenantId: ctx.tenantId }))
    const [matched] = await tx.select().from(slurmNodes).where(scope)
    return matched!
  })
}

/** Keeps the choice for a node that a refresh does not list for a while. */
async function keepChoice(tx: Tx, { tenantId, clusterId, name, nodeId }: SlurmNodeRow, automatic: boolean): Promise<void> {
  if (automatic)
    await tx.delete(slurmNodeChoices).where(and(eq(slurmNodeChoices.clusterId, clusterId), eq(slurmNodeChoices.name, name)))
  else
    await tx
      .insert(slurmNodeChoices)
      .values({ tenantId, clusterId, name, nodeId })
      .onConflictDoUpdate({ target: [slurmNodeChoices.clusterId, slurmNodeChoices.name], set: { nodeId } })
}

/** Locks the node, so that two clusters cannot get it at once. */
async function lockNode(tx: Tx, ctx: Ctx, id: string): Promise<void> {
  const [node] = await tx
    .select({ name: computeNodes.name, decommissionedAt: computeNodes.decommissionedAt })
    .from(computeNodes)
    .where(and(visibleTo(ctx, computeNodes), eq(computeNodes.id, id)))
    .for('no key update')
  if (!node) throw new NotFound(`There is no node ${id}.`)
  if (node.decommissionedAt) throw new Conflict(`The node ${node.name} is decommissioned. Recommission it first.`)
}

async function checkOneCluster(tx: Tx, ctx: Ctx, clusterId: string, nodeId: string): Promise<void> {
  const [other] = await tx
    .select({ name: slurmNodes.name, cluster: slurmClusters.name })
    .from(slurmNodes)
    .innerJoin(slurmClusters, eq(slurmClusters.id, slurmNodes.clusterId))
    .where(and(visibleTo(ctx, slurmNodes), eq(slurmNodes.nodeId, nodeId), ne(slurmNodes.clusterId, clusterId)))
  if (other)
    throw new Conflict(
      `The node belongs to the cluster ${other.cluster}, as ${other.name}. A node belongs to one cluster. Change its match there first.`,
    )
}
