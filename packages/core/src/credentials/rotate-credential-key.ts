import { audit } from '../audit/index.ts'
import { authorize, type Ctx, inTransaction } from '../kernel/context.ts'
import { Conflict } from '../kernel/errors.ts'
import { credentialAudit } from './audit-actions.ts'
import { credentialKeyRotated } from './change-events.ts'
import { type CredentialKey, credentialKey } from './credential-key.ts'
import { lockKeys } from './open-vault.ts'
import { credentialPermissions } from './permissions.ts'
import { rotateBlockedReason } from './policy.ts'
import { credentialKeys } from './tables.ts'

/**
 * Creates a new key version for all tenants. Every process encrypts with it from then on, and workers re-encrypt older records.
 * All versions stay readable.
 * @throws Conflict the last rotation is unfinished, another one just started, or the master password changed since this process
 * started
 */
export async function rotateCredentialKey(ctx: Ctx): Promise<CredentialKey> {
  authorize(ctx, credentialPermissions.rotateKey)
  const before = await credentialKey(ctx)
  const reason = rotateBlockedReason(before)
  if (reason) throw new Conflict(reason)
  await inTransaction({ ...ctx, db: ctx.systemDb }, async (tx, ctx) => {
    await lockKeys(tx)
    const key = await ctx.vault.makeKey(tx, before.version + 1)
    const [created] = await tx.insert(credentialKeys).values(key).onConflictDoNothing().returning()
    if (!created) throw new Conflict('Another rotation started at the same time. Follow its progress.')
    await audit(tx, { ...ctx, tenantId: null }, credentialAudit.rotateKey, { id: null }, { version: key.version })
    ctx.notify(credentialKeyRotated({ id: String(key.version), tenantId: ctx.tenantId }))
  })
  return credentialKey(ctx)
}
