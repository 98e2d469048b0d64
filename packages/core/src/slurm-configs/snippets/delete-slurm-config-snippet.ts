import { and, eq } from 'drizzle-orm'
import { z } from 'zod'
import { audit } from '../../audit/index.ts'
import { authorize, type Ctx, inTransaction } from '../../kernel/context.ts'
import { visibleTo } from '../../kernel/db/rows.ts'
import { NotFound, parseInput } from '../../kernel/errors.ts'
import { Id } from '../../kernel/input.ts'
import { slurmConfigSnippetAudit } from '../audit-actions.ts'
import { slurmConfigPermissions } from '../permissions.ts'
import { slurmConfigSnippets } from '../tables.ts'
import { SNIPPET_FIELDS } from './fields.ts'

export const DeleteSlurmConfigSnippetInput = z.object({ id: Id, reason: SNIPPET_FIELDS.reason })

/**
 * Deletes a snippet. Configurations keep its lines until `applySlurmConfigSnippets` removes them, cluster by cluster.
 * @throws NotFound
 */
export async function deleteSlurmConfigSnippet(
  ctx: Ctx,
  input: z.input<typeof DeleteSlurmConfigSnippetInput>,
): Promise<{ id: string }> {
  authorize(ctx, slurmConfigPermissions.write)
  const { id, reason } = parseInput(DeleteSlurmConfigSnippetInput, input)
  return inTransaction(ctx, async (tx, ctx) => {
    const [snippet] = await tx
      .delete(slurmConfigSnippets)
      .where(and(visibleTo(ctx, slurmConfigSnippets), eq(slurmConfigSnippets.id, id)))
      .returning()
    if (!snippet) throw new NotFound(`There is no snippet ${id}.`)
    await audit(tx, ctx, slurmConfigSnippetAudit.delete, snippet, {}, { reason })
    return { id }
  })
}
