import { and, eq, isNull, sql } from 'drizzle-orm'
import { z } from 'zod'
import { audit } from '../audit/index.ts'
import { authorize, type Ctx, inTransaction } from '../kernel/context.ts'
import { notFoundOrConflict, visibleTo } from '../kernel/db/rows.ts'
import { parseInput } from '../kernel/errors.ts'
import { Id } from '../kernel/input.ts'
import { jobTemplateAudit } from './audit-actions.ts'
import { templatePermissions } from './permissions.ts'
import { editTemplateBlockedReason } from './policy.ts'
import { type JobTemplate, jobTemplates } from './tables.ts'
import { Reason } from './template-fields.ts'

export const ArchiveJobTemplateInput = z.object({ id: Id, reason: Reason })

/**
 * Archives a template, so that no run can use it. Its runs and versions stay, and its name stays reserved until it is restored.
 * @throws NotFound; Conflict for a built-in or an archived template
 */
export async function archiveJobTemplate(ctx: Ctx, input: z.input<typeof ArchiveJobTemplateInput>): Promise<JobTemplate> {
  authorize(ctx, templatePermissions.write)
  const { id, reason } = parseInput(ArchiveJobTemplateInput, input)
  return inTransaction(ctx, async (tx) => {
    const [template] = await tx
      .update(jobTemplates)
      .set({ archivedAt: sql`now()` })
      .where(
        and(
          visibleTo(ctx, jobTemplates),
          eq(jobTemplates.id, id),
          eq(jobTemplates.isSystem, false),
          isNull(jobTemplates.archivedAt),
        ),
      )
      .returning()
    if (!template)
      throw await notFoundOrConflict(tx, ctx, jobTemplates, id, 'job template', (row) =>
        editTemplateBlockedReason(ctx.actor, row),
      )
    await audit(tx, ctx, jobTemplateAudit.archive, template, { reason: reason ?? null })
    return template
  })
}
