import type { Ctx } from '@muster/core/context'
import { openGitLogin, resolveNodeAccess } from '@muster/core/credentials/access'
import { retryTransient } from '@muster/core/retry-transient'
import { createReadSecret } from './secrets/read-secret.ts'

/**
 * Resolves how to log in to nodes, including values from secret stores. Each call reads everything again; a run calls it once.
 * @param instead ID of a credential to use in place of the nodes' own of its kind
 */
export const nodeAccess = (ctx: Ctx, nodeIds: string[], instead?: string | null) =>
  retryTransient(() => resolveNodeAccess(ctx, nodeIds, { instead, readSecret: createReadSecret() }))

/** Resolves how to sign in to the git server of `url` with a credential. @throws DomainError */
export const gitLogin = (ctx: Ctx, credentialId: string, url: string) =>
  retryTransient(() => openGitLogin(ctx, credentialId, url, createReadSecret()))
