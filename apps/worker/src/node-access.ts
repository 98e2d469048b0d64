import type { Ctx } from '@muster/core/context'
import { openGitLogin, resolveNodeAccess } from '@muster/core/credentials/access'
import { patiently } from '@muster/core/patiently'
import { createReadSecret } from './secrets/read-secret.ts'

/**
 * How to log in to nodes, with what their credentials keep in secret stores. Read anew at each call: for a run, once.
 * @param instead id of a credential to take in place of the nodes' own of its kind
 */
export const nodeAccess = (ctx: Ctx, nodeIds: string[], instead?: string | null) =>
  patiently(() => resolveNodeAccess(ctx, nodeIds, { instead, readSecret: createReadSecret() }))

/** How to sign in at the git server of `url` with a credential. @throws DomainError */
export const gitLogin = (ctx: Ctx, credentialId: string, url: string) =>
  patiently(() => openGitLogin(ctx, credentialId, url, createReadSecret()))
