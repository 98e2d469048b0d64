import type { Ctx } from '@muster/core/context'
import { openGitLogin, resolveNodeAccess } from '@muster/core/credentials/access'
import type { LocalTarget } from '@muster/core/outbound'
import { retryTransient } from '@muster/core/retry-transient'
import { createReadSecret } from './secrets/read-secret.ts'

type LocalTargets = readonly LocalTarget[]

/**
 * Resolves how to log in to nodes, including values from secret stores. Each call reads everything again; a run calls it once.
 * @param localTargets local addresses that secret stores may have
 * @param instead ID of a credential to use in place of the nodes' own of its kind
 */
export const nodeAccess = (ctx: Ctx, localTargets: LocalTargets, nodeIds: string[], instead?: string | null) =>
  retryTransient(() => resolveNodeAccess(ctx, nodeIds, { instead, readSecret: createReadSecret(localTargets) }))

/** Resolves how to sign in to the git server of `url` with a credential. @throws DomainError */
export const gitLogin = (ctx: Ctx, localTargets: LocalTargets, credentialId: string, url: string) =>
  retryTransient(() => openGitLogin(ctx, credentialId, url, createReadSecret(localTargets)))
