import { randomBytes } from 'node:crypto'
import { recordOfferedHostKey } from '@muster/core/connections'
import type { Ctx } from '@muster/core/context'
import { unapprovedHopReason } from '@muster/core/credentials'
import type { NodeAccess } from '@muster/core/credentials/access'
import { type DiscoveryOutcome, finishDiscovery, startDiscovery } from '@muster/core/discoveries'
import { DomainError } from '@muster/core/errors'
import { connectBlockedReason } from '@muster/core/nodes'
import type { QueueEntry } from '@muster/core/queue'
import { retryTransient } from '@muster/core/retry-transient'
import { PROBE_OUTPUT_LIMIT_BYTES, PROBE_TIMEOUT_MS, parseProbe, probeCommand, probeFailureReason } from '@muster/discovery'
import { discoveryDuration } from '../metrics.ts'
import { nodeAccess } from '../node-access.ts'
import type { BastionPool } from '../ssh/bastion-pool.ts'
import type { ConnectOptions } from '../ssh/connect.ts'
import { openSession } from '../ssh/open-session.ts'
import { SshFailure } from '../ssh/ssh-failure.ts'
import { type NodeConfig, type WorkerDeps, workerCtx } from '../worker.ts'

type Deps = Omit<WorkerDeps<NodeConfig>, 'listener'> & { bastions: BastionPool }
type Found = Omit<DiscoveryOutcome, 'id' | 'durationMs'>

/** Runs the probe on a node over one connection. Its output is stored even when it cannot be parsed. */
export function discoveryHandler(deps: Deps): (entry: QueueEntry) => Promise<void> {
  return async (entry) => {
    const { id } = entry
    const ctx = workerCtx(deps, entry)
    const discovery = await retryTransient(() => startDiscovery(ctx, { id }))
    if (!discovery) return
    const startedAt = performance.now()
    const access = (await nodeAccess(ctx, deps.config.LOCAL_TARGETS, [discovery.nodeId])).get(discovery.nodeId)!
    const found = access instanceof DomainError ? { error: access.message } : await discover(ctx, access, deps)
    const durationMs = performance.now() - startedAt
    await retryTransient(() => finishDiscovery(ctx, { id, durationMs, ...found }))
    discoveryDuration.observe({ result: found.result ? 'ok' : 'failed' }, durationMs / 1000)
  }
}

async function discover(ctx: Ctx, access: NodeAccess, { config, bastions, stopping }: Deps): Promise<Found> {
  const blockedReason = connectBlockedReason(access.node) ?? unapprovedHopReason(access.hops)
  if (blockedReason) return { error: blockedReason }
  try {
    const evidence = await runProbe(access, { timeoutMs: config.SSH_TIMEOUT * 1000, bastions, signal: stopping })
    const failure = probeFailureReason(evidence)
    return failure ? { error: failure, evidence } : { result: parseProbe(evidence), evidence }
  } catch (error) {
    if (stopping.aborted) return { error: 'The worker was stopped during the discovery; discover the node again.' }
    if (!(error instanceof SshFailure)) throw error
    const { offered } = error
    if (offered) await retryTransient(() => recordOfferedHostKey(ctx, offered))
    return { error: error.summary, unreachable: true }
  }
}

/** @returns the probe's output, possibly incomplete: the probe has its own timeouts, and the one here covers a node that hangs */
async function runProbe(access: NodeAccess, options: ConnectOptions): Promise<Buffer> {
  const session = await openSession(access, options)
  try {
    const { command, stdin } = probeCommand({ nonce: randomBytes(16).toString('hex') })
    const { stdout } = await session.exec(command, {
      stdin,
      maxBytes: PROBE_OUTPUT_LIMIT_BYTES,
      timeoutMs: PROBE_TIMEOUT_MS + options.timeoutMs,
      signal: options.signal,
    })
    return stdout
  } finally {
    session.close()
  }
}
