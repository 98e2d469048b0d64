import { createHash } from 'node:crypto'
import type { PreflightStage } from '@muster/core/connections'
import type { Client } from 'ssh2'
import { dial, dialThrough } from './dial.ts'
import { performHandshake } from './handshake.ts'
import { createStageRecorder, type OnStage } from './stage-recorder.ts'
import type { Target } from './target.ts'

/** Connections older than this are not shared with new callers: they no longer reflect the bastion's state. */
const MAX_SHARED_AGE_MS = 60_000
/** Idle connections stay open this long for the next node behind the same bastion. */
const LINGER_MS = 3000
const CLOSE_GRACE_MS = 500

type Shared = {
  client: Promise<Client>
  /** Stages on the way to it, replayed to callers that join later. */
  stages: PreflightStage[]
  listeners: Set<OnStage>
  users: number
  since: number
  linger?: NodeJS.Timeout
}
/** An open connection to the last bastion, or null without bastions; call `release` when done. */
export type Lease = { client: Client | null; release(): void }

/**
 * Connections to bastions, shared by all nodes behind them: one connection per node would exceed the bastion's MaxStartups, and try a
 * wrong password a hundred times. Callers that join receive the same stages.
 */
export type BastionPool = {
  /** @throws SshFailure that names the hop */
  lease(hops: Target[], options: { timeoutMs: number; onStage?: OnStage }): Promise<Lease>
  close(): void
}

export function createBastionPool(): BastionPool {
  const open = new Map<string, Shared>()
  const stop = new AbortController()

  const start = (hops: Target[], key: string, timeoutMs: number): Shared => {
    const shared: Shared = { client: Promise.resolve(null!), stages: [], listeners: new Set(), users: 0, since: Date.now() }
    const publish: OnStage = (stage) => {
      shared.stages.push(stage)
      for (const listener of shared.listeners) listener(stage)
    }
    const target = hops.at(-1)!
    const connect = async () => {
      const outer = await lease(hops.slice(0, -1), { timeoutMs, onStage: publish })
      try {
        const client = await connectHop(target, hops.at(-2), outer.client, { timeoutMs, signal: stop.signal }, publish)
        client.once('close', () => {
          evict(key, shared)
          outer.release()
        })
        return client
      } catch (error) {
        outer.release()
        throw error
      }
    }
    shared.client = connect()
    // Waiting callers get the failure; the next caller retries.
    shared.client.catch(() => evict(key, shared))
    open.set(key, shared)
    return shared
  }
  const evict = (key: string, shared: Shared) => {
    if (open.get(key) === shared) open.delete(key)
  }
  const end = (key: string, shared: Shared) => {
    evict(key, shared)
    clearTimeout(shared.linger)
    shared.client.then(endClient, () => {})
  }
  const lease: BastionPool['lease'] = async (hops, { timeoutMs, onStage = () => {} }) => {
    if (hops.length === 0) return { client: null, release: () => {} }
    const key = keyOf(hops)
    const known = open.get(key)
    const shared = known && Date.now() - known.since < MAX_SHARED_AGE_MS ? known : start(hops, key, timeoutMs)
    shared.users++
    clearTimeout(shared.linger)
    let isReleased = false
    const release = () => {
      if (isReleased) return
      isReleased = true
      if (--shared.users > 0) return
      if (open.get(key) !== shared) end(key, shared)
      else shared.linger = setTimeout(() => end(key, shared), LINGER_MS).unref()
    }
    for (const stage of shared.stages) onStage(stage)
    shared.listeners.add(onStage)
    try {
      return { client: await shared.client, release }
    } catch (error) {
      release()
      throw error
    } finally {
      shared.listeners.delete(onStage)
    }
  }
  return {
    lease,
    close() {
      stop.abort(new Error('The worker stops.'))
      for (const [key, shared] of open) end(key, shared)
    },
  }
}

/** Connects one hop, directly or through the previous bastion, and signs in. @throws SshFailure */
export async function connectHop(
  target: Target,
  via: Target | undefined,
  bastion: Client | null,
  limits: { timeoutMs: number; signal: AbortSignal },
  onStage?: OnStage,
): Promise<Client> {
  const recorder = createStageRecorder(target, onStage)
  const sock = bastion && via ? await dialThrough(bastion, via, target, recorder, limits) : await dial(target, recorder, limits)
  return performHandshake(sock, target, recorder, limits)
}

/** Ends the connection, and destroys the socket when the peer does not close it. */
export function endClient(client: Client): void {
  const force = setTimeout(() => client.destroy(), CLOSE_GRACE_MS).unref()
  client.once('close', () => clearTimeout(force))
  client.end()
}

/** Routes share a connection only with the same machines, host keys and logins. */
function keyOf(hops: Target[]): string {
  return createHash('sha256').update(JSON.stringify(hops)).digest('base64')
}
