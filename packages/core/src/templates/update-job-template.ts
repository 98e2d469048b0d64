import { and, eq, isNull } from 'drizzle-orm'
import { z } from 'zod'
import { audit } from '../audit/index.ts'
import { authorize, type Ctx, inTransaction } from '../kernel/context.ts'
import { notFoundOrConflict, visibleTo } from '../kernel/db/rows.ts'
import { Conflict, parseInput } from '../kernel/errors.ts'
import { Id } from '../kernel/input.ts'
import { jobTemplateAudit } from './audit-actions.ts'
import { templatePermissions } from './permissions.ts'
import { editTemplateBlockedReason } from './policy.ts'
import { type JobTemplate, jobTemplates } from './tables.ts'
import { Reason, TEMPLATE_FIELDS, withoutOtherSources } from './template-fields.ts'
import { checkTemplate, persistVersions, snapshotOf, unlessTaken } from './template-versions.ts'

export const UpdateJobTemplateInput = z.object({
  ...z.object(TEMPLATE_FIELDS).partial().shape,
  id: Id,
  /** The version that the caller edited. */
  version: z.int().min(1).nullish(),
  reason: Reason,
})

/**
 * Changes the given fields of a template and stores the result as its next version.
 * @throws InvalidInput, NotFound
 * @throws Conflict for a built-in or archived template, when it is no longer at `version`, or the new name is taken
 */
export async function updateJobTemplate(ctx: Ctx, input: z.input<typeof UpdateJobTemplateInput>): Promise<JobTemplate> {
  authorize(ctx, templatePermissions.write)
  const { id, version, reason, ...fields } = parseInput(UpdateJobTemplateInput, input)
  const changes = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as typeof fields
  return inTransaction(ctx, async (tx) => {
    const scope = and(visibleTo(ctx, jobTemplates), eq(jobTemplates.id, id))
    const editable = and(scope, eq(jobTemplates.isSystem, false), isNull(jobTemplates.archivedAt))
    const [before] = await tx.select().from(jobTemplates).where(editable).for('no key update')
    if (!before)
      throw await notFoundOrConflict(tx, ctx, jobTemplates, id, 'job template', (template) =>
        editTemplateBlockedReason(ctx.actor, template),
      )
    if (version && before.version !== version)
      throw new Conflict(
        `The job template ${before.name} was changed to version ${before.version}. Compare the changes and try again.`,
      )
    const template = withoutOtherSources({ ...snapshotOf(before), ...changes })
    await checkTemplate(tx, ctx, template)
    const [changed] = await tx
      .update(jobTemplates)
      .set({ ...template, version: before.version + 1 })
      .where(scope)
      .returning()
    await persistVersions(tx, ctx, [changed!], reason)
    await audit(tx, ctx, jobTemplateAudit.update, changed!, { version: changed!.version, changed: Object.keys(changes) })
    return changed!
  }).catch(unlessTaken(fields.name ?? ''))
}
