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
import { assertClusters } from './assert-clusters.ts'
import { SNIPPET_FIELDS, snippetFilesOf } from './fields.ts'

export const UpdateSlurmConfigSnippetInput = z.object({
  id: Id,
  /** The version that was edited. */
  expectedVersion: z.int().min(1),
  ...SNIPPET_FIELDS,
  files: SNIPPET_FIELDS.files.optional(),
  clusterIds: SNIPPET_FIELDS.clusterIds.optional(),
  regions: SNIPPET_FIELDS.regions.optional(),
})

/**
 * Changes the lines, clusters or regions of a snippet. Omitted fields keep their values. It changes no configuration:
 * `applySlurmConfigSnippets` does, cluster by cluster.
 * @throws NotFound the snippet or a cluster; Conflict somebody changed it meanwhile; InvalidInput
 */
export async function updateSlurmConfigSnippet(
  ctx: Ctx,
  input: z.input<typeof UpdateSlurmConfigSnippetInput>,
): Promise<SlurmConfigSnippet> {
  authorize(ctx, slurmConfigPermissions.write)
  const { id, expectedVersion, files, clusterIds, regions, reason } = parseInput(UpdateSlurmConfigSnippetInput, input)
  const changes = {
    ...(files ? { files: snippetFilesOf(files) } : {}),
    ...(clusterIds ? { clusterIds } : {}),
    ...(regions ? { regions } : {}),
  }
  return inTransaction(ctx, async (tx, ctx) => {
    if (clusterIds) await assertClusters(tx, ctx, clusterIds)
    const [snippet] = await tx
      .update(slurmConfigSnippets)
      .set({
        ...changes,
        ...actorColumns(ctx, 'updated'),
        version: sql`${slurmConfigSnippets.version} + 1`,
        updatedAt: sql`now()`,
      })
      .where(
        and(
          visibleTo(ctx, slurmConfigSnippets),
          eq(slurmConfigSnippets.id, id),
          eq(slurmConfigSnippets.version, expectedVersion),
        ),
      )
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
    return snippet
  })
}
