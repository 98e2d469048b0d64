import { and, eq } from 'drizzle-orm'
import { z } from 'zod'
import { audit } from '../audit/index.ts'
import { authorize, type Ctx, inTransaction } from '../kernel/context.ts'
import { notFoundOrConflict, visibleTo } from '../kernel/db/rows.ts'
import { NotFound, parseInput } from '../kernel/errors.ts'
import { Id } from '../kernel/input.ts'
import { jobTemplateAudit } from './audit-actions.ts'
import { templatePermissions } from './permissions.ts'
import { editTemplateBlockedReason } from './policy.ts'
import { type JobTemplate, jobTemplates, jobTemplateVersions } from './tables.ts'
import { Reason } from './template-fields.ts'
import { checkTemplate, persistVersions, unlessTaken } from './template-versions.ts'

export const RestoreJobTemplateInput = z.object({ id: Id, version: z.int().min(1).nullish(), reason: Reason })

/**
 * Restores a template: from the archive, and with `version` to that version, which becomes its next one.
 * @throws NotFound no such template or version; Conflict for a built-in template, or when its old name is taken
 */
export async function restoreJobTemplate(ctx: Ctx, input: z.input<typeof RestoreJobTemplateInput>): Promise<JobTemplate> {
  authorize(ctx, templatePermissions.write)
  const { id, version, reason } = parseInput(RestoreJobTemplateInput, input)
  return inTransaction(ctx, async (tx) => {
    const scope = and(visibleTo(ctx, jobTemplates), eq(jobTemplates.id, id), eq(jobTemplates.isSystem, false))
    const [before] = await tx.select().from(jobTemplates).where(scope).for('no key update')
    if (!before)
      throw await notFoundOrConflict(tx, ctx, jobTemplates, id, 'job template', (row) =>
        editTemplateBlockedReason(ctx.actor, { ...row, archivedAt: null }),
      )
    const snapshot = version ? await snapshotAt(version, before) : {}
    const [template] = await tx
      .update(jobTemplates)
      .set({ ...snapshot, archivedAt: null, ...(version ? { version: before.version + 1 } : {}) })
      .where(scope)
      .returning()
    if (version) await persistVersions(tx, ctx, [template!], reason ?? `Restored version ${version}.`)
    await audit(tx, ctx, jobTemplateAudit.restore, template!, { from: version ?? null, version: template!.version })
    return template!

    async function snapshotAt(number: number, { name }: JobTemplate) {
      const [kept] = await tx
        .select({ snapshot: jobTemplateVersions.snapshot })
        .from(jobTemplateVersions)
        .where(and(eq(jobTemplateVersions.templateId, id), eq(jobTemplateVersions.version, number)))
      if (!kept) throw new NotFound(`The job template ${name} has no version ${number}. See its history.`)
      // Old versions have no Git credential.
      const snapshot = { ...kept.snapshot, gitCredentialId: kept.snapshot.gitCredentialId ?? null }
      await checkTemplate(tx, ctx, snapshot)
      return snapshot
    }
  }).catch(unlessTaken('that it had'))
}
