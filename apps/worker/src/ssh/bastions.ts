import { createHash } from 'node:crypto'
import type { PreflightStage } from '@muster/core/nodes'
import type { Client } from 'ssh2'
import { dial, dialThrough } from './dial.ts'
import { shakeHands } from './handshake.ts'
import { type OnStage, walkStages } from './stages.ts'
import type { Target } from './target.ts'

/** A caller may join a connection this young: an older one says too little of how the bastion is now. */
const JOIN_MS = 60_000
/** How long a connection that nobody uses stays, for the next node behind the same bastion. */
const LINGER_MS = 3000
const CLOSE_GRACE_MS = 500

type Shared = {
  client: Promise<Client>
  /** What was seen on the way to it, for those who join later. */
  stages: PreflightStage[]
  listeners: Set<OnStage>
  users: number
  since: number
  linger?: NodeJS.Timeout
}
/** An open connection to the last of some bastions, or null when there is none; `release` when done with it. */
export type Lease = { client: Client | null; release(): void }

/**
 * Connections to bastions, shared by all nodes behind them: a sweep that opened one each would run into the bastion's
 * MaxStartups, and a wrong password would be tried a hundred times. Those who join hear the same stages.
 */
export type Bastions = {
  /** @throws SshFailure that names the hop */
  lease(hops: Target[], options: { timeoutMs: number; onStage?: OnStage }): Promise<Lease>
  close(): void
}

export function shareBastions(): Bastions {
  const open = new Map<string, Shared>()
  const stop = new AbortController()

  const start = (hops: Target[], key: string, timeoutMs: number): Shared => {
    const shared: Shared = { client: Promise.resolve(null!), stages: [], listeners: new Set(), users: 0, since: Date.now() }
    const tell: OnStage = (stage) => {
      shared.stages.push(stage)
      for (const listener of shared.listeners) listener(stage)
    }
    const target = hops.at(-1)!
    const connect = async () => {
      const outer = await lease(hops.slice(0, -1), { timeoutMs, onStage: tell })
      try {
        const client = await connectHop(target, hops.at(-2), outer.client, { timeoutMs, signal: stop.signal }, tell)
        client.once('close', () => {
          forget(key, shared)
          outer.release()
        })
        return client
      } catch (error) {
        outer.release()
        throw error
      }
    }
    shared.client = connect()
    // Whoever waits gets the failure; the next one to come tries anew.
    shared.client.catch(() => forget(key, shared))
    open.set(key, shared)
    return shared
  }
  const forget = (key: string, shared: Shared) => {
    if (open.get(key) === shared) open.delete(key)
  }
  const end = (key: string, shared: Shared) => {
    forget(key, shared)
    clearTimeout(shared.linger)
    shared.client.then(endClient, () => {})
  }
  const lease: Bastions['lease'] = async (hops, { timeoutMs, onStage = () => {} }) => {
    if (hops.length === 0) return { client: null, release: () => {} }
    const key = keyOf(hops)
    const known = open.get(key)
    const shared = known && Date.now() - known.since < JOIN_MS ? known : start(hops, key, timeoutMs)
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

/** One hop, directly or by way of the bastion before it: all stages up to being signed in. @throws SshFailure */
export async function connectHop(
  target: Target,
  via: Target | undefined,
  bastion: Client | null,
  limits: { timeoutMs: number; signal: AbortSignal },
  onStage?: OnStage,
): Promise<Client> {
  const walk = walkStages(target, onStage)
  const sock = bastion && via ? await dialThrough(bastion, via, target, walk, limits) : await dial(target, walk, limits)
  return shakeHands(sock, target, walk, limits)
}

/** Says goodbye, and closes the socket by force when the other side does not follow. */
export function endClient(client: Client): void {
  const force = setTimeout(() => client.destroy(), CLOSE_GRACE_MS).unref()
  client.once('close', () => clearTimeout(force))
  client.end()
}

/** Two ways are the same only if they lead to the same machines, by the same keys and logins. */
function keyOf(hops: Target[]): string {
  return createHash('sha256').update(JSON.stringify(hops)).digest('base64')
}
