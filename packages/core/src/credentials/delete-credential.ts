import { and, eq, isNull, notExists, or, sql } from 'drizzle-orm'
import type { z } from 'zod'
import { audit } from '../audit/index.ts'
import { slurmClusters } from '../clusters/tables.ts'
import { authorize, type Ctx, inTransaction, type Tx } from '../kernel/context.ts'
import type { Db } from '../kernel/db/client.ts'
import { FOREIGN_KEY_VIOLATION, notFoundOrConflict, sqlState, visibleTo } from '../kernel/db/rows.ts'
import { Conflict, parseInput } from '../kernel/errors.ts'
import { IdInput } from '../kernel/input.ts'
import { computeNodes, nodeBmcs } from '../nodes/tables.ts'
import { credentialRotations, unfinishedOf } from '../rotations/tables.ts'
import { jobRuns } from '../runs/tables.ts'
import { foldHostlist } from '../selection/index.ts'
import { jobTemplates } from '../templates/tables.ts'
import { credentialAudit } from './audit-actions.ts'
import { credentialPermissions } from './permissions.ts'
import { deleteBlockedReason } from './policy.ts'
import { credentials } from './tables.ts'

/**
 * Returns the users of the credential: node names as a hostlist, bastions behind it, templates with its repository, clusters
 * with its salt-api or slurmrestd, and the number of runs.
 */
async function usersOf(db: Db | Tx, ctx: Ctx, id: string): Promise<Parameters<typeof deleteBlockedReason>[1]> {
  const nodes = await db
    .select({ name: computeNodes.name })
    .from(computeNodes)
    .where(
      and(
        visibleTo(ctx, computeNodes),
        or(
          eq(computeNodes.credentialId, id),
          eq(computeNodes.becomeCredentialId, id),
          eq(computeNodes.bastionId, id),
          sql`exists (select from ${nodeBmcs} b where b.node_id = ${computeNodes.id} and b.credential_id = ${id})`,
        ),
      ),
    )
  const behind = await db
    .select({ name: credentials.name })
    .from(credentials)
    .where(and(visibleTo(ctx, credentials), eq(credentials.viaId, id)))
  const templates = await db
    .select({ name: jobTemplates.name })
    .from(jobTemplates)
    .where(and(visibleTo(ctx, jobTemplates), eq(jobTemplates.gitCredentialId, id)))
  const clusters = await db
    .select({ name: slurmClusters.name })
    .from(slurmClusters)
    .where(
      and(
        visibleTo(ctx, slurmClusters),
        or(eq(slurmClusters.saltCredentialId, id), eq(slurmClusters.slurmrestdCredentialId, id)),
      ),
    )
  const openRuns = await db.$count(
    jobRuns,
    and(visibleTo(ctx, jobRuns), eq(jobRuns.gitCredentialId, id), isNull(jobRuns.finishedAt)),
  )
  const isRotating = (await db.$count(credentialRotations, unfinishedOf(ctx, id))) > 0
  return {
    isRotating,
    nodes: foldHostlist(nodes.map((n) => n.name)),
    bastions: behind.map((b) => b.name),
    templates: templates.map((t) => t.name),
    clusters: clusters.map((c) => c.name),
    openRuns,
  }
}

/**
 * Deletes an unused credential.
 * @throws NotFound
 * @throws Conflict naming the nodes, bastions, templates or clusters that use it, or the number of unfinished runs, or a rotation is in progress:
 * only its row has the new password of nodes
 */
export async function deleteCredential(ctx: Ctx, input: z.input<typeof IdInput>): Promise<{ id: string }> {
  authorize(ctx, credentialPermissions.write)
  const { id } = parseInput(IdInput, input)
  const work = inTransaction(ctx, async (tx) => {
    // Waits for a rotation that is starting.
    await tx
      .select({ id: credentials.id })
      .from(credentials)
      .where(and(visibleTo(ctx, credentials), eq(credentials.id, id)))
      .for('update')
    const [credential] = await tx
      .delete(credentials)
      .where(
        and(
          visibleTo(ctx, credentials),
          eq(credentials.id, id),
          sql`not exists (select from compute_nodes n where ${id} in (n.credential_id, n.become_credential_id, n.bastion_id))`,
          sql`not exists (select from node_bmcs b where b.credential_id = ${id})`,
          sql`not exists (select from credentials behind where behind.via_id = ${id})`,
          sql`not exists (select from job_templates t where t.git_credential_id = ${id})`,
          sql`not exists (select from slurm_clusters c where ${id} in (c.salt_credential_id, c.slurmrestd_credential_id))`,
          sql`not exists (select from job_runs r where r.git_credential_id = ${id} and r.finished_at is null)`,
          notExists(tx.select({ id: credentialRotations.id }).from(credentialRotations).where(unfinishedOf(ctx, id))),
        ),
      )
      .returning()
    if (!credential) {
      const users = await usersOf(tx, ctx, id)
      throw await notFoundOrConflict(tx, ctx, credentials, id, 'credential', (row) => deleteBlockedReason(row, users))
    }
    await audit(tx, ctx, credentialAudit.delete, credential, { kind: credential.kind })
    return { id }
  })
  return work.catch(async (error: unknown) => {
    // A concurrent transaction assigned it to a node after our check.
    if (sqlState(error) !== FOREIGN_KEY_VIOLATION) throw error
    throw new Conflict(
      deleteBlockedReason({ name: id }, await usersOf(ctx.db, ctx, id)) ?? 'The credential was in use a moment ago; try again.',
    )
  })
}
