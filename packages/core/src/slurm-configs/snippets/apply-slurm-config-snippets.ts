import { z } from 'zod'
import { authorizeCluster } from '../../clusters/index.ts'
import { IdempotencyKey, idempotent, oneRow } from '../../idempotency/index.ts'
import { authorizeSomewhere, type Ctx } from '../../kernel/context.ts'
import { Conflict, parseInput } from '../../kernel/errors.ts'
import { Id } from '../../kernel/input.ts'
import { findCluster } from '../find-cluster.ts'
import { slurmConfigPermissions } from '../permissions.ts'
import { type SlurmConfigVersion, slurmConfigVersions } from '../tables.ts'
import { SNIPPET_FIELDS } from './fields.ts'
import { proposeSnippets } from './propose-snippets.ts'

export const ApplySlurmConfigSnippetsInput = z.object({
  clusterId: Id,
  reason: SNIPPET_FIELDS.reason,
  idempotencyKey: IdempotencyKey,
})

/**
 * Stores a version of the configuration of a cluster that has the lines of its snippets: after an import, an edit that changed them, or the
 * end of a conflict. It is not rolled out.
 * @throws Forbidden; NotFound; Conflict the newest version has them, or cannot have them
 */
export async function applySlurmConfigSnippets(
  ctx: Ctx,
  input: z.input<typeof ApplySlurmConfigSnippetsInput>,
): Promise<SlurmConfigVersion> {
  authorizeSomewhere(ctx, slurmConfigPermissions.write)
  const { idempotencyKey, ...fields } = parseInput(ApplySlurmConfigSnippetsInput, input)
  const key = { verb: 'applySlurmConfigSnippets', key: idempotencyKey, input: fields, result: oneRow(slurmConfigVersions) }
  return idempotent(ctx, key, async (tx, ctx) => {
    authorizeCluster(ctx, slurmConfigPermissions.write, await findCluster(tx, ctx, fields.clusterId))
    const { version, problem } = await proposeSnippets(tx, ctx, fields.clusterId, fields.reason)
    if (!version) throw new Conflict(problem ?? 'The newest version has the lines of all snippets of the cluster already.')
    return version
  })
}
