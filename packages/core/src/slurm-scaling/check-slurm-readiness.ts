import { nodeNames, parseConfig } from '@muster/slurm/config'
import { and, lt, sql } from 'drizzle-orm'
import { z } from 'zod'
import { audit } from '../audit/index.ts'
import { ProgramFolder, SALT_FIELDS, saltColumns } from '../clusters/index.ts'
import { IdempotencyKey, idempotent, oneRow } from '../idempotency/index.ts'
import { authorize, authorizeSomewhere, type Ctx } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { InvalidInput, parseInput } from '../kernel/errors.ts'
import { Id, Ids, singleLineText } from '../kernel/input.ts'
import { slurmReadinessAudit } from './audit-actions.ts'
import { findCandidates } from './candidates.ts'
import { slurmReadinessCheckChanged } from './change-events.ts'
import { slurmScalePermissions } from './permissions.ts'
import { slurmReadinessQueue } from './queues.ts'
import { authorizeCandidates, isOneSelection, ONE_SELECTION, scalableCluster } from './scale-out.ts'
import { type SlurmReadinessCheck, slurmReadinessChecks } from './tables.ts'

const MAX_NODES = 500

export const CheckSlurmReadinessInput = z
  .object({
    /** The cluster that the nodes may join; null: a new one. */
    clusterId: Id.nullish(),
    /** Nodes of the inventory: a hostlist, group or query, as for runs. */
    limit: singleLineText(10_000).nullish(),
    nodeIds: Ids.refine((ids) => ids.length <= MAX_NODES, `at most ${MAX_NODES} at once`).nullish(),
    /** Folder with an installed Slurm, for a new cluster. */
    prefix: ProgramFolder.nullish(),
    /** Salt of a new cluster; a cluster that exists has its own. */
    ...SALT_FIELDS,
    idempotencyKey: IdempotencyKey,
  })
  .refine(isOneSelection, ONE_SELECTION)

/**
 * Starts a check of nodes over SSH, and through Salt where the cluster uses it: whether they can join a cluster now. It changes nothing.
 * Nodes that cannot join by what is known of them are left out: previews show the reason.
 * @throws Forbidden; NotFound; Conflict the cluster is not managed; InvalidInput no node is left, or more than 500 are
 */
export async function checkSlurmReadiness(
  ctx: Ctx,
  input: z.input<typeof CheckSlurmReadinessInput>,
): Promise<SlurmReadinessCheck> {
  authorizeSomewhere(ctx, slurmScalePermissions.nodes)
  const { idempotencyKey, ...request } = parseInput(CheckSlurmReadinessInput, input)
  if (!request.clusterId) authorize(ctx, slurmScalePermissions.nodes)
  const key = { verb: 'checkSlurmReadiness', key: idempotencyKey, input: request, result: oneRow(slurmReadinessChecks) }
  return idempotent(ctx, key, async (tx, ctx) => {
    const { clusterId, limit, nodeIds } = request
    const salt = await saltColumns(tx, ctx, request)
    const target = clusterId ? await scalableCluster(tx, ctx, clusterId) : null
    const names = target ? nodeNames(parseConfig(target.version.files['slurm.conf'])) : []
    const path = nodeIds ? 'nodeIds' : 'limit'
    const candidates = await findCandidates(tx, ctx, nodeIds ?? limit!, new Set(names), path)
    await authorizeCandidates(tx, ctx, candidates)
    const usable = candidates.filter(({ blockedReason }) => blockedReason === null)
    if (usable.length === 0) throw new InvalidInput([{ path, message: 'none of the nodes can join; the preview shows why' }])
    if (usable.length > MAX_NODES) throw new InvalidInput([{ path, message: `at most ${MAX_NODES} nodes at once` }])
    await tx
      .delete(slurmReadinessChecks)
      .where(and(visibleTo(ctx, slurmReadinessChecks), lt(slurmReadinessChecks.createdAt, sql`now() - interval '1 day'`)))
    const [check] = await tx
      .insert(slurmReadinessChecks)
      .values({
        tenantId: ctx.tenantId,
        clusterId: clusterId ?? null,
        prefix: target ? (target.cluster.install?.prefix ?? null) : (request.prefix ?? null),
        salt: target ? null : salt,
        nodes: usable.map(({ node, config }) => ({ nodeId: node.id, name: node.name, config: config!, checks: null })),
      })
      .returning()
    await ctx.queue.send(tx, slurmReadinessQueue, [check!])
    const details = { nodes: usable.map(({ node }) => node.name) }
    await audit(tx, ctx, slurmReadinessAudit.check, { id: check!.id, name: target?.cluster.name ?? null }, details)
    ctx.notify(slurmReadinessCheckChanged(check!))
    return check!
  })
}
