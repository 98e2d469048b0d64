import { and, eq, sql } from 'drizzle-orm'
import type { z } from 'zod'
import { audit } from '../audit/index.ts'
import { authorize, type Ctx, inTransaction, type Tx } from '../kernel/context.ts'
import type { Db } from '../kernel/db/client.ts'
import { isOneOf, visibleTo } from '../kernel/db/rows.ts'
import { Conflict, NotFound, parseInput } from '../kernel/errors.ts'
import { IdInput } from '../kernel/input.ts'
import { jobRuns } from '../runs/tables.ts'
import { playbookBundleAudit } from './audit-actions.ts'
import { templatePermissions } from './permissions.ts'
import { deleteBundleBlockedReason } from './policy.ts'
import { jobTemplates, jobTemplateVersions, playbookBundles } from './tables.ts'

/** References to a bundle: template versions, for example `site (version 1)`, and the number of runs, which can be retried. */
export type BundleUsers = { versions: string[]; runs: number }

/** Returns the references to each of these bundles. Unreferenced bundles are absent. */
export async function bundleUsers(db: Db | Tx, tenant: Pick<Ctx, 'tenantId'>, ids: string[]): Promise<Map<string, BundleUsers>> {
  const bundleId = sql<string>`${jobTemplateVersions.snapshot} ->> 'bundleId'`
  const versions = await db
    .select({ id: bundleId, name: jobTemplates.name, version: jobTemplateVersions.version })
    .from(jobTemplateVersions)
    .innerJoin(jobTemplates, eq(jobTemplates.id, jobTemplateVersions.templateId))
    .where(and(visibleTo(tenant, jobTemplateVersions), sql`${bundleId} = any(${sql.param(ids)}::text[])`))
    .orderBy(jobTemplates.name, jobTemplateVersions.version)
  const runs = await db
    .select({ id: jobRuns.bundleId, count: sql<number>`count(*)::int` })
    .from(jobRuns)
    .where(and(visibleTo(tenant, jobRuns), isOneOf(jobRuns.bundleId, ids)))
    .groupBy(jobRuns.bundleId)
  const users = new Map<string, BundleUsers>()
  const of = (id: string) => {
    const known = users.get(id) ?? { versions: [], runs: 0 }
    users.set(id, known)
    return known
  }
  for (const { id, name, version } of versions) of(id).versions.push(`${name} (version ${version})`)
  for (const { id, count } of runs) of(id!).runs = count
  return users
}

/** Deletes a bundle without references from template versions or runs. @throws NotFound; Conflict naming the references */
export async function deletePlaybookBundle(ctx: Ctx, input: z.input<typeof IdInput>): Promise<{ id: string }> {
  authorize(ctx, templatePermissions.write)
  const { id } = parseInput(IdInput, input)
  return inTransaction(ctx, async (tx) => {
    // The lock blocks new references, which then fail because the bundle is gone.
    const [bundle] = await tx
      .select({ id: playbookBundles.id, name: playbookBundles.name, sha256: playbookBundles.sha256 })
      .from(playbookBundles)
      .where(and(visibleTo(ctx, playbookBundles), eq(playbookBundles.id, id)))
      .for('update')
    if (!bundle) throw new NotFound(`There is no playbook bundle ${id}.`)
    const users = (await bundleUsers(tx, ctx, [id])).get(id)
    const reason = deleteBundleBlockedReason(ctx.actor, bundle, users)
    if (reason) throw new Conflict(reason)
    await tx.delete(playbookBundles).where(eq(playbookBundles.id, id))
    await audit(tx, ctx, playbookBundleAudit.delete, bundle, { sha256: bundle.sha256 })
    return { id }
  })
}
