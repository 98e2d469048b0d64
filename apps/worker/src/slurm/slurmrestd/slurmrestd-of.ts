import type { SlurmrestdColumns } from '@muster/core/clusters'
import type { Ctx } from '@muster/core/context'
import type { ApiLogin } from '@muster/core/credentials'
import { openApiLogin, readCredentialVersion } from '@muster/core/credentials/access'
import { DomainError } from '@muster/core/errors'
import type { LocalTarget } from '@muster/core/outbound'
import { retryTransient } from '@muster/core/retry-transient'
import { createReadSecret } from '../../secrets/read-secret.ts'
import { type SlurmrestdEndpoint, SlurmrestdFailure, socketEndpoint, urlEndpoint } from './endpoint.ts'

/** After it, tokens are decrypted again. */
const MAX_AGE_MS = 600_000

/** Returns where the slurmrestd of a cluster listens; null where it has none. */
export type SlurmrestdOf = (ctx: Ctx, cluster: SlurmrestdColumns) => Promise<SlurmrestdEndpoint | SlurmrestdFailure | null>

/** Keeps decrypted tokens between refreshes, until their credential changes: each decryption is audited. */
export function createSlurmrestdOf(localTargets: readonly LocalTarget[]): SlurmrestdOf {
  const readSecret = createReadSecret(localTargets)
  const logins = new Map<string, { login: ApiLogin; version: string | null; openedAt: number }>()
  async function loginOf(ctx: Ctx, id: string): Promise<ApiLogin> {
    const version = await readCredentialVersion(ctx, id)
    for (const [id, { openedAt }] of logins) if (performance.now() - openedAt > MAX_AGE_MS) logins.delete(id)
    const found = logins.get(id)
    if (found && found.version === version) return found.login
    const login = await openApiLogin(ctx, id, 'SLURMRESTD', readSecret)
    logins.set(id, { login, version, openedAt: performance.now() })
    return login
  }
  return async (ctx, { slurmrestdSocket, slurmrestdCredentialId, slurmrestdCaCertificate }) => {
    if (slurmrestdSocket !== null) return socketEndpoint(slurmrestdSocket)
    if (slurmrestdCredentialId === null) return null
    try {
      const login = await retryTransient(() => loginOf(ctx, slurmrestdCredentialId))
      return urlEndpoint(login, slurmrestdCaCertificate, localTargets)
    } catch (error) {
      if (error instanceof DomainError) return new SlurmrestdFailure(error.message)
      throw error
    }
  }
}
