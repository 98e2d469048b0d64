import { z } from 'zod'
import { authorizeSomewhere, type Ctx, inTransaction } from '../kernel/context.ts'
import { NotFound, parseInput } from '../kernel/errors.ts'
import { variableAudit } from './audit-actions.ts'
import { authorizeScope } from './authorize-scope.ts'
import { variablePermissions } from './permissions.ts'
import { findScope, isOneScope, ONE_SCOPE, Reason, SCOPE_FIELDS, saveScope } from './scope.ts'
import type { VariableScope } from './tables.ts'

export const UnsetSecretVarInput = z.object({ ...SCOPE_FIELDS, name: z.string(), reason: Reason }).refine(isOneScope, ONE_SCOPE)

/**
 * Removes a secret variable from a scope; restoring an earlier version brings it back.
 * @throws NotFound no such scope, or it has no such secret; Conflict on a concurrent change
 */
export async function unsetSecretVar(ctx: Ctx, input: z.input<typeof UnsetSecretVarInput>): Promise<VariableScope> {
  authorizeSomewhere(ctx, variablePermissions.write)
  const { name, reason, ...ref } = parseInput(UnsetSecretVarInput, input)
  return inTransaction(ctx, async (tx) => {
    await authorizeScope(tx, ctx, ref)
    const scope = await findScope(tx, ctx, ref)
    if (!scope.row || !Object.hasOwn(scope.row.secrets, name))
      throw new NotFound(`There is no secret variable ${name.slice(0, 80)} of ${scope.label}.`)
    const { id, source, vars, version } = scope.row
    const { [name]: _gone, ...secrets } = scope.row.secrets
    const content = { source, vars, secrets }
    return saveScope(tx, ctx, scope, { content, basedOn: version, reason, action: variableAudit.unsetSecret, id })
  })
}
