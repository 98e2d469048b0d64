import type { SaltColumns } from '@muster/core/clusters'
import type { Ctx } from '@muster/core/context'
import { openApiLogin } from '@muster/core/credentials/access'
import { retryTransient } from '@muster/core/retry-transient'
import { createReadSecret } from '../../secrets/read-secret.ts'
import { createSaltClient, type SaltClient, type SaltLimits } from './salt-client.ts'

/**
 * A client of the salt-api of a cluster; null where it does not use Salt.
 * @throws DomainError its credential was deleted, or cannot be decrypted
 */
export async function openSalt(
  ctx: Ctx,
  { saltCredentialId: id, saltEauth: eauth, saltCaCertificate: caCertificate }: SaltColumns,
  limits: SaltLimits,
): Promise<SaltClient | null> {
  if (id === null || eauth === null) return null
  const login = await retryTransient(() => openApiLogin(ctx, id, 'SALT', createReadSecret(limits.localTargets)))
  return createSaltClient({ login, eauth, caCertificate }, limits)
}
