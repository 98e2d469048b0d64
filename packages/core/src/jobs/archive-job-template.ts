import { and, eq, isNull, sql } from 'drizzle-orm'
import { z } from 'zod'
import { audit, authorize, type Ctx, inTransaction } from '../context.ts'
import { visibleTo, whyNoRow } from '../db/rows.ts'
import { parseInput } from '../errors.ts'
import { Id } from '../input.ts'
import { whyNotEditTemplate } from './policy.ts'
import { type JobTemplate, jobTemplates } from './tables.ts'
import { Reason } from './template-fields.ts'

export const ArchiveJobTemplateInput = z.object({ id: Id, reason: Reason })

/**
 * Take a template out of use. Its runs and versions stay, and so does its name, until it is restored.
 * @throws NotFound; Conflict it belongs to Muster or is archived already
 */
export async function archiveJobTemplate(ctx: Ctx, input: z.input<typeof ArchiveJobTemplateInput>): Promise<JobTemplate> {
  authorize(ctx, 'template:write')
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
    if (!template) throw await whyNoRow(tx, ctx, jobTemplates, id, 'job template', (row) => whyNotEditTemplate(ctx.actor, row))
    await audit(tx, ctx, 'job_template.archive', template, { reason: reason ?? null })
    return template
  })
}
