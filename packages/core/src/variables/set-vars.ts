import { v7 as uuidv7 } from 'uuid'
import { z } from 'zod'
import { authorizeSomewhere, type Ctx, inTransaction } from '../kernel/context.ts'
import { parseInput } from '../kernel/errors.ts'
import { variableAudit } from './audit-actions.ts'
import { authorizeScope } from './authorize-scope.ts'
import { parseVars } from './parse-vars.ts'
import { variablePermissions } from './permissions.ts'
import { findScope, isOneScope, ONE_SCOPE, Reason, SCOPE_FIELDS, saveScope, Version } from './scope.ts'
import type { VariableScope } from './tables.ts'

export const SetVarsInput = z
  .object({ ...SCOPE_FIELDS, text: z.string(), basedOn: Version, reason: Reason })
  .refine(isOneScope, ONE_SCOPE)

/**
 * Replaces the variables of a scope with those of a YAML or JSON text; secrets stay.
 * @param input.basedOn the version that was edited; 0 when none were ever set
 * @throws Conflict when they changed since, naming who did it; NotFound no such group or node
 * @throws InvalidInput at text, with line and column; Forbidden for Ansible's own variables
 */
export async function setVars(ctx: Ctx, input: z.input<typeof SetVarsInput>): Promise<VariableScope> {
  authorizeSomewhere(ctx, variablePermissions.write)
  const { text, basedOn, reason, ...ref } = parseInput(SetVarsInput, input)
  const vars = parseVars(text)
  return inTransaction(ctx, async (tx) => {
    await authorizeScope(tx, ctx, ref)
    const scope = await findScope(tx, ctx, ref)
    const content = { source: text, vars, secrets: scope.row?.secrets ?? {} }
    return saveScope(tx, ctx, scope, { content, basedOn, reason, action: variableAudit.set, id: scope.row?.id ?? uuidv7() })
  })
}
