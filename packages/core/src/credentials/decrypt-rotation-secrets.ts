import { and, eq } from 'drizzle-orm'
import { authorize, type Ctx } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { NotFound } from '../kernel/errors.ts'
import type { CredentialRotation, RotationSecrets } from '../rotations/tables.ts'
import { credentialAudit } from './audit-actions.ts'
import { auditDecryption } from './audit-decryption.ts'
import { credentialPermissions } from './permissions.ts'
import { credentials, type SecretField } from './tables.ts'

/**
 * Returns the new and the previous secret of an unfinished rotation.
 * @throws Forbidden when the caller is not a worker; NotFound the credential was deleted
 */
export async function decryptRotationSecrets(
  ctx: Ctx,
  { id, credentialId, encrypted }: Pick<CredentialRotation, 'id' | 'credentialId' | 'encrypted'>,
): Promise<RotationSecrets> {
  authorize(ctx, credentialPermissions.decrypt)
  const [credential] = await ctx.db
    .select({ id: credentials.id, name: credentials.name, encrypted: credentials.encrypted })
    .from(credentials)
    .where(and(visibleTo(ctx, credentials), eq(credentials.id, credentialId)))
  if (!credential) throw new NotFound('The credential of the rotation was deleted.')
  await auditDecryption(ctx, credentialAudit.decrypt, [credential], { rotation: id })
  const open = async (objectId: string, records: Partial<Record<SecretField, string>>) =>
    Object.fromEntries(
      await Promise.all(
        Object.entries(records).map(
          async ([field, record]) => [field, await ctx.vault.open({ tenantId: ctx.tenantId, objectId, field }, record)] as const,
        ),
      ),
    )
  return { next: await open(id, encrypted), previous: await open(credentialId, credential.encrypted) }
}
