import { v7 as uuidv7 } from 'uuid'
import { z } from 'zod'
import { authorizeSomewhere, type Ctx, inTransaction } from '../kernel/context.ts'
import { InvalidInput, parseInput } from '../kernel/errors.ts'
import { Secret } from '../kernel/input.ts'
import { variableAudit } from './audit-actions.ts'
import { authorizeScope } from './authorize-scope.ts'
import { variableNameError, variableValueError } from './names.ts'
import { variablePermissions } from './permissions.ts'
import { findScope, isOneScope, ONE_SCOPE, Reason, SCOPE_FIELDS, saveScope } from './scope.ts'
import { type VariableScope, variableSecrets } from './tables.ts'

const SECRET_MAX = 64 * 1024

export const SetSecretVarInput = z
  .object({
    ...SCOPE_FIELDS,
    name: z.string(),
    value: Secret.refine((text) => Buffer.byteLength(text) <= SECRET_MAX, `must have at most ${SECRET_MAX} bytes`).refine(
      (text) => variableValueError(text) === null,
      'must not contain NUL or unpaired surrogates',
    ),
    reason: Reason,
  })
  .refine(isOneScope, ONE_SCOPE)

/**
 * Sets a secret variable of a scope. The value is encrypted before it reaches the database. Only runs can read it.
 * @throws InvalidInput at name or value; NotFound no such scope; Conflict on a concurrent change
 */
export async function setSecretVar(ctx: Ctx, input: z.input<typeof SetSecretVarInput>): Promise<VariableScope> {
  authorizeSomewhere(ctx, variablePermissions.write)
  const { name, value, reason, ...ref } = parseInput(SetSecretVarInput, input)
  const wrong = variableNameError(name)
  if (wrong) throw new InvalidInput([{ path: 'name', message: wrong }])
  const secretId = uuidv7()
  const encrypted = await ctx.vault.encrypt({ tenantId: ctx.tenantId, objectId: secretId, field: 'value' }, value)
  return inTransaction(ctx, async (tx) => {
    await authorizeScope(tx, ctx, ref)
    const scope = await findScope(tx, ctx, ref)
    const { source = '', vars = {}, secrets = {}, version = 0, id = uuidv7() } = scope.row ?? {}
    if (Object.hasOwn(vars, name))
      throw new InvalidInput([
        { path: 'name', message: `${name} is already a plain variable of ${scope.label}; remove it there first` },
      ])
    const content = { source, vars, secrets: { ...secrets, [name]: secretId } }
    const row = await saveScope(tx, ctx, scope, { content, basedOn: version, reason, action: variableAudit.setSecret, id })
    await tx
      .insert(variableSecrets)
      .values({ id: secretId, tenantId: ctx.tenantId, scopeId: row.id, name, encrypted: { value: encrypted } })
    return row
  })
}
