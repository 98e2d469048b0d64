import { v7 as uuidv7 } from 'uuid'
import { z } from 'zod'
import { audit } from '../../audit/index.ts'
import { IdempotencyKey, idempotent, oneRow } from '../../idempotency/index.ts'
import { authorize, type Ctx } from '../../kernel/context.ts'
import { nameTaken } from '../../kernel/db/rows.ts'
import { InvalidInput, parseInput } from '../../kernel/errors.ts'
import { secretStoreAudit } from '../audit-actions.ts'
import { credentialPermissions } from '../permissions.ts'
import { SECRET_STORE_KINDS, type SecretStore, secretStores } from '../tables.ts'
import { awsEndpoint, STORE_FIELDS, storeIssues } from './secret-store-fields.ts'

export const CreateSecretStoreInput = z.object({
  ...STORE_FIELDS,
  kind: z.enum(SECRET_STORE_KINDS).default('VAULT'),
  idempotencyKey: IdempotencyKey,
})

/**
 * Adds a HashiCorp Vault, an OpenBao or an AWS Secrets Manager as a store for secrets of credentials. Only workers connect to it.
 * @throws InvalidInput, Conflict the name is taken
 */
export async function createSecretStore(ctx: Ctx, input: z.input<typeof CreateSecretStoreInput>): Promise<SecretStore> {
  authorize(ctx, credentialPermissions.write)
  const { idempotencyKey, ...given } = parseInput(CreateSecretStoreInput, input)
  const { secret, kind, name, auth, namespace = null, roleId = null, region = null, accessKeyId = null } = given
  const mount = given.mount ?? (kind === 'VAULT' ? 'secret' : null)
  const address = given.address ?? (kind === 'AWS_SECRETS_MANAGER' && region ? awsEndpoint(region) : null)
  const fields = { kind, name, auth, namespace, mount, roleId, region, accessKeyId }
  const issues = storeIssues(fields)
  if (issues.length > 0) throw new InvalidInput(issues)
  if (!address) throw new InvalidInput([{ path: 'address', message: 'is required' }])
  const id = uuidv7()
  const encrypted = { secret: await ctx.vault.encrypt({ tenantId: ctx.tenantId, objectId: id, field: 'secret' }, secret) }
  return idempotent(
    ctx,
    { verb: 'createSecretStore', key: idempotencyKey, input: given, hasSecrets: true, result: oneRow(secretStores) },
    async (tx) => {
      const [store] = await tx
        .insert(secretStores)
        .values({ id, tenantId: ctx.tenantId, ...fields, address, encrypted })
        .onConflictDoNothing()
        .returning()
      if (!store) throw nameTaken('secret store', fields.name)
      await audit(tx, ctx, secretStoreAudit.create, store, { kind, address, auth })
      return store
    },
  )
}
