import { and, eq } from 'drizzle-orm'
import { z } from 'zod'
import { authorizeSomewhere, type Ctx, inTransaction } from '../kernel/context.ts'
import { NotFound, parseInput } from '../kernel/errors.ts'
import { variableAudit } from './audit-actions.ts'
import { authorizeScope } from './authorize-scope.ts'
import { variablePermissions } from './permissions.ts'
import { findScope, isOneScope, ONE_SCOPE, Reason, SCOPE_FIELDS, saveScope } from './scope.ts'
import { type VariableScope, variableVersions } from './tables.ts'

export const RestoreVarsInput = z
  .object({ ...SCOPE_FIELDS, version: z.int().min(1), reason: Reason })
  .refine(isOneScope, ONE_SCOPE)

/**
 * Restores the variables of a scope, including secrets, to an earlier version. The result is a new version.
 * @throws NotFound no such scope or version; Conflict on a concurrent change
 */
export async function restoreVars(ctx: Ctx, input: z.input<typeof RestoreVarsInput>): Promise<VariableScope> {
  authorizeSomewhere(ctx, variablePermissions.write)
  const { version, reason, ...ref } = parseInput(RestoreVarsInput, input)
  return inTransaction(ctx, async (tx) => {
    await authorizeScope(tx, ctx, ref)
    const scope = await findScope(tx, ctx, ref)
    const [old] = scope.row
      ? await tx
          .select({ source: variableVersions.source, vars: variableVersions.vars, secrets: variableVersions.secrets })
          .from(variableVersions)
          .where(and(eq(variableVersions.scopeId, scope.row.id), eq(variableVersions.version, version)))
      : []
    if (!scope.row || !old)
      throw new NotFound(`The variables of ${scope.label} have no version ${version}; the newest is ${scope.row?.version ?? 0}.`)
    const { id, version: basedOn } = scope.row
    return saveScope(tx, ctx, scope, {
      content: old,
      basedOn,
      reason: reason ?? `Restored version ${version}.`,
      action: variableAudit.restore,
      id,
    })
  })
}
