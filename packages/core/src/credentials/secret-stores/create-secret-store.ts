import { v7 as uuidv7 } from 'uuid'
import { z } from 'zod'
import { audit } from '../../audit/index.ts'
import { IdempotencyKey, idempotent, oneRow } from '../../idempotency/index.ts'
import { authorize, type Ctx } from '../../kernel/context.ts'
import { nameTaken } from '../../kernel/db/rows.ts'
import { InvalidInput, parseInput } from '../../kernel/errors.ts'
import { secretStoreAudit } from '../audit-actions.ts'
import { credentialPermissions } from '../permissions.ts'
import { type SecretStore, secretStores } from '../tables.ts'
import { roleIssues, STORE_FIELDS } from './secret-store-fields.ts'

export const CreateSecretStoreInput = z.object({
  ...STORE_FIELDS,
  mount: STORE_FIELDS.mount.default('secret'),
  idempotencyKey: IdempotencyKey,
})

/**
 * Adds a HashiCorp Vault or OpenBao as a store for secrets of credentials. Only workers connect to it.
 * @throws InvalidInput, Conflict the name is taken
 */
export async function createSecretStore(ctx: Ctx, input: z.input<typeof CreateSecretStoreInput>): Promise<SecretStore> {
  authorize(ctx, credentialPermissions.write)
  const { idempotencyKey, ...given } = parseInput(CreateSecretStoreInput, input)
  const { secret, roleId = null, namespace = null, ...fields } = given
  const issues = roleIssues({ auth: fields.auth, roleId })
  if (issues.length > 0) throw new InvalidInput(issues)
  const id = uuidv7()
  const encrypted = { secret: await ctx.vault.encrypt({ tenantId: ctx.tenantId, objectId: id, field: 'secret' }, secret) }
  return idempotent(
    ctx,
    { verb: 'createSecretStore', key: idempotencyKey, input: given, hasSecrets: true, result: oneRow(secretStores) },
    async (tx) => {
      const [store] = await tx
        .insert(secretStores)
        .values({ id, tenantId: ctx.tenantId, ...fields, roleId, namespace, encrypted })
        .onConflictDoNothing()
        .returning()
      if (!store) throw nameTaken('secret store', fields.name)
      await audit(tx, ctx, secretStoreAudit.create, store, { address: store.address, auth: store.auth })
      return store
    },
  )
}
