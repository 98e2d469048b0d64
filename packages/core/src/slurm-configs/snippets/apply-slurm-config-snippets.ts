import { and, arrayContains, or } from 'drizzle-orm'
import { z } from 'zod'
import { authorizeCluster } from '../../clusters/index.ts'
import type { SlurmCluster } from '../../clusters/tables.ts'
import { IdempotencyKey, idempotent, oneRow } from '../../idempotency/index.ts'
import { authorizeSomewhere, type Ctx, type Tx } from '../../kernel/context.ts'
import { visibleTo } from '../../kernel/db/rows.ts'
import { Conflict, parseInput } from '../../kernel/errors.ts'
import { Id } from '../../kernel/input.ts'
import { lockCluster } from '../../slurm-operations/index.ts'
import { slurmConfigPermissions } from '../permissions.ts'
import { type SlurmConfigSnippet, type SlurmConfigVersion, slurmConfigSnippets, slurmConfigVersions } from '../tables.ts'
import { createConfigVersion, newestConfigVersion } from '../versions.ts'
import { SNIPPET_FIELDS } from './fields.ts'
import { compareSnippets } from './snippet-states.ts'

export const ApplySlurmConfigSnippetsInput = z.object({
  clusterId: Id,
  /** From the preview. */
  fingerprint: z.string().max(100),
  reason: SNIPPET_FIELDS.reason,
  idempotencyKey: IdempotencyKey,
})

/**
 * Stores a version of the configuration of a cluster that has the lines of its snippets, and no lines of others. It is not rolled out.
 * Each cluster is applied by itself: what blocks one does not stop the others.
 * @throws Forbidden; NotFound; Conflict there is nothing to store, or it is other than in the preview
 */
export async function applySlurmConfigSnippets(
  ctx: Ctx,
  input: z.input<typeof ApplySlurmConfigSnippetsInput>,
): Promise<SlurmConfigVersion> {
  authorizeSomewhere(ctx, slurmConfigPermissions.write)
  const { idempotencyKey, ...fields } = parseInput(ApplySlurmConfigSnippetsInput, input)
  const key = { verb: 'applySlurmConfigSnippets', key: idempotencyKey, input: fields, result: oneRow(slurmConfigVersions) }
  return idempotent(ctx, key, async (tx, ctx) => {
    const { clusterId, fingerprint: previewed, reason } = fields
    const cluster = await lockCluster(tx, ctx, clusterId)
    authorizeCluster(ctx, slurmConfigPermissions.write, cluster)
    const newest = await newestConfigVersion(tx, clusterId)
    const snippets = await snippetsOf(tx, ctx, cluster)
    const { files, blockedReason, fingerprint } = compareSnippets(cluster, snippets, newest, null)
    if (!newest || !files) throw new Conflict(blockedReason ?? `The cluster ${cluster.name} has no configuration.`)
    if (fingerprint !== previewed)
      throw new Conflict(
        `The configuration of the cluster ${cluster.name} or its snippets changed after the preview. Preview it again.`,
      )
    return createConfigVersion(tx, ctx, { clusterId, basedOn: newest.number, files, origin: 'SNIPPETS', reason })
  })
}

const snippetsOf = (tx: Tx, ctx: Ctx, { id, region }: SlurmCluster): Promise<SlurmConfigSnippet[]> => {
  const { clusterIds, regions } = slurmConfigSnippets
  const ofRegion = region === null ? undefined : arrayContains(regions, [region])
  return tx
    .select()
    .from(slurmConfigSnippets)
    .where(and(visibleTo(ctx, slurmConfigSnippets), or(arrayContains(clusterIds, [id]), ofRegion)))
}
