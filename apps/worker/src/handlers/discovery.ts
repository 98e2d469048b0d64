import { randomBytes } from 'node:crypto'
import type { Ctx } from '@muster/core/context'
import { type NodeAccess, whyNotPass } from '@muster/core/credentials/access'
import { DomainError } from '@muster/core/errors'
import { type DiscoveryOutcome, finishDiscovery, recordOfferedHostKey, startDiscovery, whyNotConnect } from '@muster/core/nodes'
import { patiently } from '@muster/core/patiently'
import type { QueueEntry } from '@muster/core/queue'
import { PROBE_OUTPUT_LIMIT, PROBE_TIME_LIMIT, parseProbe, probeCommand, whyNotRead } from '@muster/discovery'
import { discoveryDuration } from '../metrics.ts'
import { nodeAccess } from '../node-access.ts'
import type { Bastions } from '../ssh/bastions.ts'
import type { ConnectOptions } from '../ssh/connect.ts'
import { SshFailure } from '../ssh/failure.ts'
import { openSession } from '../ssh/open-session.ts'
import { type WorkerDeps, workerCtx } from '../worker.ts'

type Deps = Omit<WorkerDeps<{ SSH_TIMEOUT: number }>, 'listener'> & { bastions: Bastions }
type Found = Omit<DiscoveryOutcome, 'id' | 'durationMs'>

/** Look at a node with the probe: one connection, one exec. What it printed is kept even when nothing can be read from it. */
export function discoveryHandler(deps: Deps): (entry: QueueEntry) => Promise<void> {
  return async (entry) => {
    const { id } = entry
    const ctx = workerCtx(deps, entry)
    const discovery = await patiently(() => startDiscovery(ctx, { id }))
    if (!discovery) return
    const begun = performance.now()
    const access = (await nodeAccess(ctx, [discovery.nodeId])).get(discovery.nodeId)!
    const found = access instanceof DomainError ? { error: access.message } : await look(ctx, access, deps)
    const durationMs = performance.now() - begun
    await patiently(() => finishDiscovery(ctx, { id, durationMs, ...found }))
    discoveryDuration.observe({ result: found.result ? 'ok' : 'failed' }, durationMs / 1000)
  }
}

async function look(ctx: Ctx, access: NodeAccess, { config, bastions, stopping }: Deps): Promise<Found> {
  const refusal = whyNotConnect(access.node) ?? whyNotPass(access.hops)
  if (refusal) return { error: refusal }
  try {
    const evidence = await runProbe(access, { timeoutMs: config.SSH_TIMEOUT * 1000, bastions, signal: stopping })
    const unread = whyNotRead(evidence)
    return unread ? { error: unread, evidence } : { result: parseProbe(evidence), evidence }
  } catch (error) {
    if (stopping.aborted) return { error: 'The worker was stopped while it looked; discover the node again.' }
    if (!(error instanceof SshFailure)) throw error
    const { offered } = error
    if (offered) await patiently(() => recordOfferedHostKey(ctx, offered))
    return { error: error.summary, unreachable: true }
  }
}

/** @returns what the probe printed, as far as it came: the node keeps its own clocks, and ours only guards against its silence */
async function runProbe(access: NodeAccess, options: ConnectOptions): Promise<Buffer> {
  const session = await openSession(access, options)
  try {
    const { command, stdin } = probeCommand({ nonce: randomBytes(16).toString('hex') })
    const { stdout } = await session.exec(command, {
      stdin,
      maxBytes: PROBE_OUTPUT_LIMIT,
      timeoutMs: PROBE_TIME_LIMIT + options.timeoutMs,
      signal: options.signal,
    })
    return stdout
  } finally {
    session.close()
  }
}
