import { and, eq, sql } from 'drizzle-orm'
import { z } from 'zod'
import { audit } from '../../audit/index.ts'
import { actorColumns, authorize, type Ctx, inTransaction } from '../../kernel/context.ts'
import { notFoundOrConflict, visibleTo } from '../../kernel/db/rows.ts'
import { parseInput } from '../../kernel/errors.ts'
import { Id } from '../../kernel/input.ts'
import { slurmConfigSnippetAudit } from '../audit-actions.ts'
import { slurmConfigPermissions } from '../permissions.ts'
import { type SlurmConfigSnippet, slurmConfigSnippets } from '../tables.ts'
import { SNIPPET_FIELDS, snippetFilesOf } from './fields.ts'
import { assertClusters, existingClusters } from './find-clusters.ts'
import { proposeForAll } from './propose-snippets.ts'

export const UpdateSlurmConfigSnippetInput = z.object({
  id: Id,
  /** The version that was edited. */
  expectedVersion: z.int().min(1),
  ...SNIPPET_FIELDS,
  files: SNIPPET_FIELDS.files.optional(),
  clusterIds: SNIPPET_FIELDS.clusterIds.optional(),
})

/**
 * Changes the lines or the clusters of a snippet, and stores a version for each cluster that has it or had it. Nothing is rolled out.
 * Omitted fields keep their values.
 * @throws NotFound the snippet or a cluster; Conflict somebody changed it meanwhile; InvalidInput
 */
export async function updateSlurmConfigSnippet(
  ctx: Ctx,
  input: z.input<typeof UpdateSlurmConfigSnippetInput>,
): Promise<SlurmConfigSnippet> {
  authorize(ctx, slurmConfigPermissions.write)
  const { id, expectedVersion, files, clusterIds, reason } = parseInput(UpdateSlurmConfigSnippetInput, input)
  const changes = { ...(files ? { files: snippetFilesOf(files) } : {}), ...(clusterIds ? { clusterIds } : {}) }
  return inTransaction(ctx, async (tx, ctx) => {
    const scope = and(visibleTo(ctx, slurmConfigSnippets), eq(slurmConfigSnippets.id, id))
    const [before] = await tx.select().from(slurmConfigSnippets).where(scope).for('update')
    if (clusterIds) await assertClusters(tx, ctx, clusterIds)
    const [snippet] = await tx
      .update(slurmConfigSnippets)
      .set({
        ...changes,
        ...actorColumns(ctx, 'updated'),
        version: sql`${slurmConfigSnippets.version} + 1`,
        updatedAt: sql`now()`,
      })
      .where(and(scope, eq(slurmConfigSnippets.version, expectedVersion)))
      .returning()
    if (!snippet)
      throw await notFoundOrConflict(
        tx,
        ctx,
        slurmConfigSnippets,
        id,
        'snippet',
        ({ name, version, updatedByName }) =>
          `${updatedByName} changed the snippet ${name} meanwhile: it has version ${version}, your change is based on ${expectedVersion}. Load it again and repeat your change.`,
      )
    await audit(tx, ctx, slurmConfigSnippetAudit.update, snippet, { version: snippet.version }, { reason })
    const concerned = await existingClusters(tx, ctx, [...before!.clusterIds, ...snippet.clusterIds])
    await proposeForAll(tx, ctx, concerned, reason)
    return snippet
  })
}
