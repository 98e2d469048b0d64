import { randomUUID } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Ctx } from '@muster/core/context'
import { unapprovedHopReason } from '@muster/core/credentials'
import { decryptRotationSecrets } from '@muster/core/credentials/access'
import { DomainError } from '@muster/core/errors'
import { connectBlockedReason } from '@muster/core/nodes'
import type { QueueEntry } from '@muster/core/queue'
import { retryTransient } from '@muster/core/retry-transient'
import {
  advanceCredentialRotation,
  CLAIM_LIFETIME_S,
  type CredentialRotation,
  claimCredentialRotation,
  type RotationStep,
  recordRotationHost,
  startRotationStep,
} from '@muster/core/rotations'
import pLimit from 'p-limit'
import { nodeAccess } from '../node-access.ts'
import type { BastionPool } from '../ssh/bastion-pool.ts'
import { rotateSecret, type Secrets } from '../ssh/rotate-secret.ts'
import { type NodeConfig, type WorkerDeps, workerCtx } from '../worker.ts'

type Deps = Omit<WorkerDeps<NodeConfig>, 'listener'> & { bastions: BastionPool }

/** Nodes that are changed at the same time. */
const CONCURRENCY = 16
const RENEW_MS = 10_000
/** Interval and time limit for waiting until the runs of a node end, because they logged in with the previous secret. */
const RUN_POLL_MS = 2000
const MAX_RUN_WAIT_MS = 600_000

/** Executes a rotation of a credential until it is paused or ends. Another worker can resume it at any point. */
export function credentialRotationHandler(deps: Deps): (entry: QueueEntry) => Promise<void> {
  return async (entry) => {
    const { id } = entry
    const ctx = workerCtx(deps, entry)
    const token = randomUUID()
    let renewedAt = performance.now()
    const claim = async () => {
      const startedAt = performance.now()
      const claimed = await retryTransient(() => claimCredentialRotation(ctx, { id, token }))
      renewedAt = startedAt
      return claimed
    }
    const rotation = await claim()
    if (!rotation) return
    const lost = new AbortController()
    const signal = AbortSignal.any([deps.stopping, lost.signal])
    const loseClaim = () => lost.abort(new Error('The rotation is paused or lost.'))
    const renewal = setInterval(() => {
      if (performance.now() - renewedAt > CLAIM_LIFETIME_S * 1000) loseClaim()
      else
        void claim().then(
          (still) => !still && loseClaim(),
          () => {},
        )
    }, RENEW_MS)
    try {
      await perform(ctx, deps, { rotation, token }, signal)
    } catch (error) {
      if (!signal.aborted) throw error
    } finally {
      clearInterval(renewal)
    }
  }
}

type Execution = { rotation: CredentialRotation; token: string }

async function perform(ctx: Ctx, deps: Deps, { rotation, token }: Execution, signal: AbortSignal): Promise<void> {
  const { id } = rotation
  const opened = await decryptRotationSecrets(ctx, rotation)
  const secrets: Secrets = {
    next: { ...opened.next, ...(rotation.publicKey ? { publicKey: rotation.publicKey } : {}) },
    previous: { ...opened.previous, ...(rotation.previousPublicKey ? { publicKey: rotation.previousPublicKey } : {}) },
  }
  const limit = pLimit(CONCURRENCY)
  for (;;) {
    signal.throwIfAborted()
    const work = await retryTransient(() => advanceCredentialRotation(ctx, { id, token }, opened))
    if (!work) return
    const access = await nodeAccess(
      ctx,
      deps.config.LOCAL_TARGETS,
      work.hosts.map(({ nodeId }) => nodeId),
    )
    // A round ends when no host is in work: the next one may do the opposite.
    const results = await Promise.allSettled(
      work.hosts.map((host) =>
        limit(async () => {
          const step = { id: host.id, rotationId: id, token, step: work.step }
          const error = await change(ctx, deps, access.get(host.nodeId)!, step, secrets, signal)
          if (error !== 'CANCELED') await retryTransient(() => recordRotationHost(ctx, { ...step, error }))
        }),
      ),
    )
    const failure = results.find((result) => result.status === 'rejected')
    if (failure) throw failure.reason
  }
}

type Access = Awaited<ReturnType<typeof nodeAccess>> extends Map<string, infer A> ? A : never

/** @returns null, CANCELED when the step is no longer wanted, or why the node was not changed */
async function change(
  ctx: Ctx,
  { config, bastions }: Deps,
  access: Access,
  host: { id: string; rotationId: string; token: string; step: RotationStep },
  secrets: Secrets,
  signal: AbortSignal,
): Promise<string | null> {
  if (access instanceof DomainError) return access.message
  const blockedReason = connectBlockedReason(access.node) ?? unapprovedHopReason(access.hops)
  if (blockedReason) return blockedReason
  const isAdding = host.step === 'INSTALL' && secrets.next.publicKey !== undefined
  const start = await started(ctx, { ...host, nodeId: access.node.id, waitsForRuns: !isAdding }, signal)
  if (start === 'CANCELED') return start
  if (start !== 'READY') return `The run ${start.run} uses the previous secret on this node. Resume after its end.`
  signal.throwIfAborted()
  return rotateSecret(access, host.step, secrets, { timeoutMs: config.SSH_TIMEOUT * 1000, bastions, signal })
}

/** Starts a step after the runs of the node ended. @returns the name of one that does not end */
async function started(ctx: Ctx, step: Parameters<typeof startRotationStep>[1], signal: AbortSignal) {
  const deadline = Date.now() + MAX_RUN_WAIT_MS
  for (;;) {
    signal.throwIfAborted()
    const start = await retryTransient(() => startRotationStep(ctx, step))
    if (typeof start === 'string' || Date.now() > deadline) return start
    await sleep(RUN_POLL_MS, undefined, { signal })
  }
}
