import { z } from 'zod'
import { audit } from '../../audit/index.ts'
import { IdempotencyKey, idempotent, oneRow } from '../../idempotency/index.ts'
import { actorColumns, authorize, type Ctx, createdBy } from '../../kernel/context.ts'
import { nameTaken } from '../../kernel/db/rows.ts'
import { parseInput } from '../../kernel/errors.ts'
import { slurmConfigSnippetAudit } from '../audit-actions.ts'
import { slurmConfigPermissions } from '../permissions.ts'
import { type SlurmConfigSnippet, slurmConfigSnippets } from '../tables.ts'
import { assertClusters } from './assert-clusters.ts'
import { SNIPPET_FIELDS, SnippetName, snippetFilesOf } from './fields.ts'

export const CreateSlurmConfigSnippetInput = z.object({
  name: SnippetName,
  ...SNIPPET_FIELDS,
  regions: SNIPPET_FIELDS.regions.default([]),
  idempotencyKey: IdempotencyKey,
})

/**
 * Creates a snippet. It changes no configuration: `applySlurmConfigSnippets` does, cluster by cluster.
 * @throws NotFound a cluster; Conflict the name is taken; InvalidInput
 */
export async function createSlurmConfigSnippet(
  ctx: Ctx,
  input: z.input<typeof CreateSlurmConfigSnippetInput>,
): Promise<SlurmConfigSnippet> {
  authorize(ctx, slurmConfigPermissions.write)
  const { idempotencyKey, ...fields } = parseInput(CreateSlurmConfigSnippetInput, input)
  const files = snippetFilesOf(fields.files)
  const key = { verb: 'createSlurmConfigSnippet', key: idempotencyKey, input: fields, result: oneRow(slurmConfigSnippets) }
  return idempotent(ctx, key, async (tx, ctx) => {
    const { name, clusterIds, regions, reason } = fields
    await assertClusters(tx, ctx, clusterIds)
    const [snippet] = await tx
      .insert(slurmConfigSnippets)
      .values({ tenantId: ctx.tenantId, name, files, clusterIds, regions, ...createdBy(ctx), ...actorColumns(ctx, 'updated') })
      .onConflictDoNothing()
      .returning()
    if (!snippet) throw nameTaken('snippet', name)
    await audit(tx, ctx, slurmConfigSnippetAudit.create, snippet, {}, { reason })
    return snippet
  })
}
