import { EventEmitter } from 'node:events'
import pg from 'pg'
import type { Log } from './log.ts'

/**
 * What a person can see changed. Carries the id and, for a run's log, the highest seq; never state: who hears it reads
 * the row. Losing one is harmless, because every listener also looks by itself from time to time.
 */
export type Nudge =
  | { topic: 'node'; id: string; tenantId: string }
  | { topic: 'alert'; id: string; tenantId: string }
  /** A silence began, or was ended early. */
  | { topic: 'alertSilence'; id: string; tenantId: string }
  /** A way for alerts changed, or there is something to send on it, or it was sent. */
  | { topic: 'alertRoute'; id: string; tenantId: string }
  | { topic: 'connectionTest'; id: string; tenantId: string }
  | { topic: 'discovery'; id: string; tenantId: string }
  | { topic: 'jobRun'; id: string; tenantId: string }
  | { topic: 'jobRunEvents'; id: string; tenantId: string; seq: number }
  | { topic: 'cancel'; id: string; tenantId: string }
  /** Runs that waited may have their turn, or may begin no more; `id` is the tenant's. */
  | { topic: 'nodesFreed'; id: string; tenantId: string }
  | { topic: 'queue'; id: string; tenantId: string }
  /** A worker came, went, or is to drain or to go on. */
  | { topic: 'worker'; id: string; tenantId: string }
  /** There is a new key; `id` is its version. */
  | { topic: 'credentialKey'; id: string; tenantId: string }

const CHANNEL = 'muster'
const RECONNECT_MS = 500
const MAX_PAYLOAD_NUDGES = 40

/** Sends nudges from one connection of its own, after the data's transaction: NOTIFY inside it would serialise all commits. */
export type Notifier = { notify(nudge: Nudge): void; close(): Promise<void> }

/** Nudges of one event-loop turn go out together, one per (topic, id), the highest seq kept. */
export function createNotifier(url: string, log: Log): Notifier {
  let client: pg.Client | null = null
  let pending = new Map<string, Nudge>()
  let flushing: Promise<void> | null = null

  const connection = async () => {
    if (client) return client
    const fresh = new pg.Client({ connectionString: url, application_name: 'muster-notify' })
    fresh.on('error', () => {
      client = null
    })
    await fresh.connect()
    client = fresh
    return fresh
  }
  const flush = async () => {
    while (pending.size > 0) {
      const nudges = [...pending.values()]
      pending = new Map()
      try {
        const c = await connection()
        const payloads: string[] = []
        for (let i = 0; i < nudges.length; i += MAX_PAYLOAD_NUDGES)
          payloads.push(JSON.stringify(nudges.slice(i, i + MAX_PAYLOAD_NUDGES)))
        await c.query('select pg_notify($1, payload) from unnest($2::text[]) payload', [CHANNEL, payloads])
      } catch (error) {
        // Listeners look by themselves every second or so: a lost nudge costs delay, not truth.
        log.warn({ err: error }, 'could not notify')
        client = null
      }
    }
  }
  return {
    notify(nudge) {
      const key = `${nudge.topic}:${nudge.id}`
      const before = pending.get(key)
      if (before?.topic === 'jobRunEvents' && nudge.topic === 'jobRunEvents' && before.seq > nudge.seq) return
      pending.set(key, nudge)
      flushing ??= new Promise((resolve) => setImmediate(resolve)).then(flush).finally(() => {
        flushing = null
      })
    },
    async close() {
      await flushing
      await client?.end().catch(() => {})
    },
  }
}

/** Empty for what somebody else sends on the channel: anybody who may connect to the database can. */
function nudgesOf(payload: string | undefined): Pick<Nudge, 'topic' | 'id'>[] {
  try {
    const parsed: unknown = JSON.parse(payload ?? '[]')
    return Array.isArray(parsed) ? parsed.filter((n) => typeof n?.topic === 'string' && typeof n?.id === 'string') : []
  } catch {
    return []
  }
}

/** The one LISTEN connection of a process. It comes back by itself; `onReconnect` fires when nudges may have been missed. */
export type Listener = {
  on(topic: Nudge['topic'], id: string | null, handler: (nudge: Nudge) => void): () => void
  onReconnect(handler: () => void): () => void
  close(): Promise<void>
}

/** @returns once the first LISTEN stands. `id` null in `on` hears every nudge of the topic. */
export async function createListener(url: string, log: Log): Promise<Listener> {
  const bus = new EventEmitter().setMaxListeners(0)
  let closed = false
  let client: pg.Client | null = null

  const connect = async () => {
    const fresh = new pg.Client({ connectionString: url, application_name: 'muster-listen', keepAlive: true })
    fresh.on('notification', (message) => {
      for (const nudge of nudgesOf(message.payload)) {
        bus.emit(`${nudge.topic}:${nudge.id}`, nudge)
        bus.emit(`${nudge.topic}:*`, nudge)
      }
    })
    fresh.on('error', () => {})
    fresh.on('end', () => {
      if (!closed && client === fresh) void reconnect()
    })
    try {
      await fresh.connect()
      await fresh.query(`listen ${CHANNEL}`)
    } catch (error) {
      // Not awaited: a server that does not answer would not answer to this either.
      void fresh.end().catch(() => {})
      throw error
    }
    client = fresh
    if (closed) await fresh.end()
  }
  const reconnect = async () => {
    while (!closed) {
      try {
        await connect()
        bus.emit('reconnect')
        return
      } catch (error) {
        log.warn({ err: error }, 'lost the connection for notifications; trying again')
        await new Promise((resolve) => setTimeout(resolve, RECONNECT_MS))
      }
    }
  }
  await connect()
  const subscribe = (name: string, handler: (nudge: Nudge) => void) => {
    bus.on(name, handler)
    return () => void bus.off(name, handler)
  }
  return {
    on: (topic, id, handler) => subscribe(`${topic}:${id ?? '*'}`, handler),
    onReconnect: (handler) => subscribe('reconnect', handler),
    async close() {
      closed = true
      await client?.end().catch(() => {})
    },
  }
}
