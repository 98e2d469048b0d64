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
  type CredentialRotation,
  claimCredentialRotation,
  type RotationStep,
  recordRotationHost,
  unfinishedRunOnNode,
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
    const claim = () => retryTransient(() => claimCredentialRotation(ctx, { id }))
    const rotation = await claim()
    if (!rotation) return
    const lost = new AbortController()
    const signal = AbortSignal.any([deps.stopping, lost.signal])
    const renewal = setInterval(
      () =>
        void claim().then(
          (still) => !still && lost.abort(new Error('The rotation is paused or lost.')),
          () => {},
        ),
      RENEW_MS,
    )
    try {
      await perform(ctx, deps, rotation, signal)
    } catch (error) {
      if (!signal.aborted) throw error
    } finally {
      clearInterval(renewal)
    }
  }
}

async function perform(ctx: Ctx, deps: Deps, rotation: CredentialRotation, signal: AbortSignal): Promise<void> {
  const { id } = rotation
  const opened = await decryptRotationSecrets(ctx, rotation)
  const secrets: Secrets = {
    next: { ...opened.next, ...(rotation.publicKey ? { publicKey: rotation.publicKey } : {}) },
    previous: { ...opened.previous, ...(rotation.previousPublicKey ? { publicKey: rotation.previousPublicKey } : {}) },
  }
  const limit = pLimit(CONCURRENCY)
  for (;;) {
    signal.throwIfAborted()
    const work = await retryTransient(() => advanceCredentialRotation(ctx, id, opened))
    if (!work) return
    const access = await nodeAccess(
      ctx,
      deps.config.LOCAL_TARGETS,
      work.hosts.map(({ nodeId }) => nodeId),
    )
    await Promise.all(
      work.hosts.map((host) =>
        limit(async () => {
          const error = await change(ctx, deps, access.get(host.nodeId)!, work.step, secrets, signal)
          await retryTransient(() => recordRotationHost(ctx, { id: host.id, rotationId: id, step: work.step, error }))
        }),
      ),
    )
  }
}

type Access = Awaited<ReturnType<typeof nodeAccess>> extends Map<string, infer A> ? A : never

/** @returns null, or why the node was not changed */
async function change(
  ctx: Ctx,
  { config, bastions }: Deps,
  access: Access,
  step: RotationStep,
  secrets: Secrets,
  signal: AbortSignal,
): Promise<string | null> {
  if (access instanceof DomainError) return access.message
  const blockedReason = connectBlockedReason(access.node) ?? unapprovedHopReason(access.hops)
  if (blockedReason) return blockedReason
  const isAdding = step === 'INSTALL' && secrets.next.publicKey !== undefined
  if (!isAdding) {
    const run = await unfinishedRun(ctx, access.node.id, signal)
    if (run) return `The run ${run} uses the previous secret on this node. Resume after its end.`
  }
  signal.throwIfAborted()
  return rotateSecret(access, step, secrets, { timeoutMs: config.SSH_TIMEOUT * 1000, bastions, signal })
}

/** Waits for the end of the runs of a node. @returns the name of one that does not end */
async function unfinishedRun(ctx: Ctx, nodeId: string, signal: AbortSignal): Promise<string | null> {
  const deadline = Date.now() + MAX_RUN_WAIT_MS
  for (;;) {
    const run = await retryTransient(() => unfinishedRunOnNode(ctx, nodeId))
    if (!run || Date.now() > deadline) return run
    await sleep(RUN_POLL_MS, undefined, { signal })
  }
}
