import { applySnippets } from '@muster/slurm/config'
import { and, arrayContains } from 'drizzle-orm'
import type { SlurmCluster } from '../../clusters/tables.ts'
import type { Ctx, Tx } from '../../kernel/context.ts'
import { visibleTo } from '../../kernel/db/rows.ts'
import { lockCluster } from '../../slurm-operations/index.ts'
import { notIncludedReason } from '../policy.ts'
import { type SlurmConfigSnippet, type SlurmConfigVersion, slurmConfigSnippets } from '../tables.ts'
import { createConfigVersion, newErrors, newestConfigVersion, releaseOf, sameFiles } from '../versions.ts'

type Proposal = {
  /** The stored version; null when the newest one is as it should be, or cannot be changed. */
  version: SlurmConfigVersion | null
  /** Why a snippet is not, or not fully, in the newest version; null when all are. */
  problem: string | null
}

/**
 * Stores a version of the configuration of a cluster that has the lines of its snippets, unless the newest one has them. It is not rolled
 * out. The verb has authorized its caller, and calls it in its transaction.
 */
export async function proposeSnippets(tx: Tx, ctx: Ctx, clusterId: string, reason: string): Promise<Proposal> {
  const cluster = await lockCluster(tx, ctx, clusterId)
  const newest = await newestConfigVersion(tx, clusterId)
  const blockedReason = notIncludedReason(cluster, newest !== null)
  if (blockedReason !== null || newest === null) return { version: null, problem: blockedReason }
  const { files, conflicts } = applySnippets(newest.files, await snippetsOf(tx, ctx, cluster))
  const [error] = newErrors(newest.files, files, releaseOf(cluster))
  if (error) return { version: null, problem: `${error.file}: ${error.message}` }
  const problem = conflicts[0] ? `The snippet ${conflicts[0].snippet}: ${conflicts[0].message}` : null
  if (sameFiles(newest.files, files)) return { version: null, problem }
  const proposed = { clusterId, basedOn: newest.number, files, origin: 'SNIPPETS' as const, reason }
  return { version: await createConfigVersion(tx, ctx, proposed), problem }
}

/** Proposes versions for several clusters, always in one order: two changes at the same time wait for each other. */
export async function proposeForAll(tx: Tx, ctx: Ctx, clusterIds: readonly string[], reason: string): Promise<void> {
  for (const id of [...new Set(clusterIds)].sort()) await proposeSnippets(tx, ctx, id, reason)
}

const snippetsOf = (tx: Tx, ctx: Ctx, { id }: Pick<SlurmCluster, 'id'>): Promise<SlurmConfigSnippet[]> =>
  tx
    .select()
    .from(slurmConfigSnippets)
    .where(and(visibleTo(ctx, slurmConfigSnippets), arrayContains(slurmConfigSnippets.clusterIds, [id])))
    .orderBy(slurmConfigSnippets.name)
