import { and } from 'drizzle-orm'
import { slurmClusters } from '../../clusters/tables.ts'
import type { Ctx, Tx } from '../../kernel/context.ts'
import { isOneOf, visibleTo } from '../../kernel/db/rows.ts'
import { NotFound } from '../../kernel/errors.ts'

/** @throws NotFound one of the clusters does not exist */
export async function assertClusters(tx: Tx, ctx: Ctx, ids: readonly string[]): Promise<void> {
  const rows = await tx
    .select({ id: slurmClusters.id })
    .from(slurmClusters)
    .where(and(visibleTo(ctx, slurmClusters), isOneOf(slurmClusters.id, [...ids])))
  const missing = ids.find((id) => !rows.some((row) => row.id === id))
  if (missing) throw new NotFound(`There is no cluster ${missing}.`)
}
