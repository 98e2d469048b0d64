import { setTimeout as sleep } from 'node:timers/promises'
import type { Ctx } from '@muster/core/context'
import { openGitLogin, resolveNodeAccess } from '@muster/core/credentials/access'
import type { LocalTarget } from '@muster/core/outbound'
import { retryTransient } from '@muster/core/retry-transient'
import { isSecretChanging } from '@muster/core/rotations'
import type { Claim } from '@muster/core/run-queue'
import { renewClaim } from '@muster/core/runs'
import { createReadSecret } from './secrets/read-secret.ts'

type LocalTargets = readonly LocalTarget[]

/**
 * Resolves how to log in to nodes, including values from secret stores. Each call reads everything again; a run calls it once.
 * @param localTargets local addresses that secret stores may have
 * @param instead ID of a credential to use in place of the nodes' own of its kind
 */
export const nodeAccess = (ctx: Ctx, localTargets: LocalTargets, nodeIds: string[], instead?: string | null) =>
  retryTransient(() => resolveNodeAccess(ctx, nodeIds, { instead, readSecret: createReadSecret(localTargets) }))

/** How often a run checks whether a rotation still changes a secret. */
const CHANGE_POLL_MS = 1000

/**
 * Resolves how a claimed run logs in to its nodes, once no rotation is changing a secret of theirs. A change takes seconds; later ones
 * wait for the run.
 */
export async function runAccess(
  ctx: Ctx,
  localTargets: LocalTargets,
  { run, token }: Pick<Claim, 'run' | 'token'>,
  nodeIds: string[],
  stopping: AbortSignal,
) {
  while (!stopping.aborted && (await retryTransient(() => isSecretChanging(ctx, nodeIds)))) {
    await retryTransient(() => renewClaim(ctx, { id: run.id, token }))
    await sleep(CHANGE_POLL_MS, undefined, { signal: stopping }).catch(() => {})
  }
  return nodeAccess(ctx, localTargets, nodeIds)
}

/** Resolves how to sign in to the git server of `url` with a credential. @throws DomainError */
export const gitLogin = (ctx: Ctx, localTargets: LocalTargets, credentialId: string, url: string) =>
  retryTransient(() => openGitLogin(ctx, credentialId, url, createReadSecret(localTargets)))
