import { and, eq, isNotNull, isNull } from 'drizzle-orm'
import type { Ctx } from '../kernel/context.ts'
import { isOneOf, visibleTo } from '../kernel/db/rows.ts'
import { retryTransient } from '../kernel/retry-transient.ts'
import { credentialRotationHosts, credentialRotations } from '../rotations/tables.ts'

/**
 * Nodes on which a rotation in progress has already set the new password, with a function that decrypts it. The caller first records
 * the decryption for the credential.
 */
export async function rotatedPasswords(
  ctx: Ctx,
  nodeIds: string[],
): Promise<Map<string, { credentialId: string; password: () => Promise<string> }>> {
  // Retried on its own: when every first statement fails, retrying the caller would never get past two statements.
  const rows = await retryTransient(() =>
    ctx.db
      .select({
        nodeId: credentialRotationHosts.nodeId,
        id: credentialRotations.id,
        credentialId: credentialRotations.credentialId,
        encrypted: credentialRotations.encrypted,
      })
      .from(credentialRotationHosts)
      .innerJoin(credentialRotations, eq(credentialRotations.id, credentialRotationHosts.rotationId))
      .where(
        and(
          visibleTo(ctx, credentialRotationHosts),
          isOneOf(credentialRotationHosts.nodeId, nodeIds),
          isNotNull(credentialRotationHosts.installedAt),
          isNull(credentialRotationHosts.restoredAt),
          isNull(credentialRotations.switchedAt),
          isNull(credentialRotations.finishedAt),
          isNull(credentialRotations.publicKey),
        ),
      ),
  )
  const passwords = new Map<string, Promise<string>>()
  const passwordOf = (id: string, record: string) => {
    const opening = passwords.get(id) ?? ctx.vault.open({ tenantId: ctx.tenantId, objectId: id, field: 'password' }, record)
    passwords.set(id, opening)
    return opening
  }
  return new Map(
    rows.map(({ nodeId, id, credentialId, encrypted }) => [
      nodeId,
      { credentialId, password: () => passwordOf(id, encrypted.password ?? '') },
    ]),
  )
}
