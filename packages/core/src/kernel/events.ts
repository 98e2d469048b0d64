import { EventEmitter } from 'node:events'
import pg from 'pg'
import type { Log } from './log.ts'

/**
 * Reports that a row changed. Carries the row's ID and, for a log, the highest seq, never state: a listener reads the row. A lost
 * event costs only delay, because every listener also polls.
 */
export type ChangeEvent = { topic: string; id: string; tenantId: string; seq?: number }

/** One kind of change event: call it to create an event, pass it to `Listener.on` to receive them. */
export type ChangeEventDefinition<Fields extends object = object> = ((
  row: { id: string; tenantId: string } & Fields,
) => ChangeEvent) & { readonly topic: string }

export function defineChangeEvent<Fields extends { seq?: number } = object>(topic: string): ChangeEventDefinition<Fields> {
  const create = (row: { id: string; tenantId: string } & Fields): ChangeEvent => ({
    topic,
    id: row.id,
    tenantId: row.tenantId,
    ...('seq' in row ? { seq: row.seq } : {}),
  })
  return Object.assign(create, { topic })
}

const CHANNEL = 'muster'
const RECONNECT_MS = 500
const MAX_EVENTS_PER_PAYLOAD = 40

/** Sends change events on a dedicated connection after the commit, because NOTIFY inside a transaction serializes all commits. */
export type Notifier = { notify(changeEvent: ChangeEvent): void; close(): Promise<void> }

/** Sends the change events of one event-loop turn, coalesced to one per topic and ID with the highest seq. */
export function createNotifier(url: string, log: Log): Notifier {
  let client: pg.Client | null = null
  let pending = new Map<string, ChangeEvent>()
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
      const changeEvents = [...pending.values()]
      pending = new Map()
      try {
        const c = await connection()
        const payloads: string[] = []
        for (let i = 0; i < changeEvents.length; i += MAX_EVENTS_PER_PAYLOAD)
          payloads.push(JSON.stringify(changeEvents.slice(i, i + MAX_EVENTS_PER_PAYLOAD)))
        await c.query('select pg_notify($1, payload) from unnest($2::text[]) payload', [CHANNEL, payloads])
      } catch (error) {
        // A lost event only delays listeners: they also poll about every second.
        log.warn({ err: error }, 'cannot send change events')
        client = null
      }
    }
  }
  return {
    notify(changeEvent) {
      const key = `${changeEvent.topic}:${changeEvent.id}`
      const before = pending.get(key)
      if (before?.seq !== undefined && changeEvent.seq !== undefined && before.seq > changeEvent.seq) return
      pending.set(key, changeEvent)
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

/** Parses a notification. Empty for payloads of other programs: any database user can send on the channel. */
function changeEventsOf(payload: string | undefined): Pick<ChangeEvent, 'topic' | 'id'>[] {
  try {
    const parsed: unknown = JSON.parse(payload ?? '[]')
    return Array.isArray(parsed) ? parsed.filter((n) => typeof n?.topic === 'string' && typeof n?.id === 'string') : []
  } catch {
    return []
  }
}

/** The LISTEN connection of a process. It reconnects automatically; `onReconnect` fires when events may have been missed. */
export type Listener = {
  on(definition: { readonly topic: string }, id: string | null, handler: (changeEvent: ChangeEvent) => void): () => void
  onReconnect(handler: () => void): () => void
  close(): Promise<void>
}

/** Resolves when the first LISTEN is active. `id` null in `on` receives every event of that kind. */
export async function createListener(url: string, log: Log): Promise<Listener> {
  const bus = new EventEmitter().setMaxListeners(0)
  let closed = false
  let client: pg.Client | null = null

  const connect = async () => {
    const fresh = new pg.Client({ connectionString: url, application_name: 'muster-listen', keepAlive: true })
    fresh.on('notification', (message) => {
      for (const changeEvent of changeEventsOf(message.payload)) {
        bus.emit(`${changeEvent.topic}:${changeEvent.id}`, changeEvent)
        bus.emit(`${changeEvent.topic}:*`, changeEvent)
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
      // Not awaited, because an unresponsive server would block it.
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
        log.warn({ err: error }, 'lost the connection for change events; reconnecting')
        await new Promise((resolve) => setTimeout(resolve, RECONNECT_MS))
      }
    }
  }
  await connect()
  const subscribe = (name: string, handler: (changeEvent: ChangeEvent) => void) => {
    bus.on(name, handler)
    return () => void bus.off(name, handler)
  }
  return {
    on: ({ topic }, id, handler) => subscribe(`${topic}:${id ?? '*'}`, handler),
    onReconnect: (handler) => subscribe('reconnect', handler),
    async close() {
      closed = true
      await client?.end().catch(() => {})
    },
  }
}
