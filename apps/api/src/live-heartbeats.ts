import type { AgentState } from '@muster/core/agents'
import type { Ctx, Runtime } from '@muster/core/registry'
import { schema } from '@muster/core/registry'
import { sql } from 'drizzle-orm'

const { agentHeartbeats, agents, computeNodes } = schema

export type LiveHeartbeat = {
  nodeId: string
  tenantId: string
  name: string
  cluster: string
  state: AgentState
  stateSince: string
  receivedAt: string | null
  sequence: number | null
  skewMs: number | null
  health: string | null
  cpuPercent: number | null
  memoryPercent: number | null
}

/** Interval between two reads of changed heartbeats; a subscriber receives a node at most once per interval. */
export const HEARTBEAT_POLL_MS = 1000
/** A commit can come after its row's timestamp, so each read starts this long before the previous one. */
const OVERLAP_MS = 5000

const ROW = sql`select a.node_id as "nodeId", a.tenant_id as "tenantId", n.name, a.cluster, a.state,
    a.state_since as "stateSince", b.received_at as "receivedAt", b.sequence::float8 as sequence, b.skew_ms as "skewMs", b.health,
    b.cpu_percent as "cpuPercent", b.memory_percent as "memoryPercent"
  from ${agents} a
  join ${computeNodes} n on n.id = a.node_id
  left join ${agentHeartbeats} b on b.node_id = a.node_id`

/** Current heartbeat of a node; null when the tenant has no such node with an agent. */
export async function readHeartbeat(
  { db, tenantId }: Pick<Ctx, 'db' | 'tenantId'>,
  nodeId: string,
): Promise<LiveHeartbeat | null> {
  const { rows } = await db.execute<LiveHeartbeat>(sql`${ROW} where a.node_id = ${nodeId} and a.tenant_id = ${tenantId}`)
  return rows[0] ?? null
}

type Listener = (heartbeats: LiveHeartbeat[]) => void
type Reader = { listen(tenantId: string, listener: Listener): () => void }
const readers = new WeakMap<Runtime['db'], Reader>()

/** The shared heartbeat reader of this process. It reads only while it has listeners, once for all of them. */
export function createHeartbeatReader(runtime: Runtime): Reader {
  const existing = readers.get(runtime.db)
  if (existing) return existing
  const reader = createReader(runtime)
  readers.set(runtime.db, reader)
  return reader
}

function createReader({ db, log }: Runtime): Reader {
  const listeners = new Map<string, Set<Listener>>()
  let previousVersions = new Map<string, string>()
  let readAt = performance.now()
  let timer: ReturnType<typeof setTimeout> | undefined

  async function read(): Promise<void> {
    const startedAt = performance.now()
    const since = sql`now() - make_interval(secs => ${(startedAt - readAt + OVERLAP_MS) / 1000})`
    const { rows } = await db.execute<LiveHeartbeat>(sql`${ROW}
      where a.tenant_id = any(${sql.param([...listeners.keys()])}::uuid[]) and a.node_id in (
        select node_id from ${agentHeartbeats} where received_at > ${since}
        union select node_id from ${agents} where state_since > ${since})`)
    readAt = startedAt
    const versions = new Map(rows.map((row) => [row.nodeId, `${row.receivedAt} ${row.stateSince} ${row.state}`]))
    const changed = Map.groupBy(
      rows.filter((row) => previousVersions.get(row.nodeId) !== versions.get(row.nodeId)),
      (row) => row.tenantId,
    )
    previousVersions = versions
    for (const [tenantId, heartbeats] of changed) for (const listener of listeners.get(tenantId) ?? []) listener(heartbeats)
  }
  async function poll(): Promise<void> {
    if (listeners.size === 0) {
      timer = undefined
      return
    }
    const startedAt = performance.now()
    try {
      await read()
    } catch (error) {
      log.warn({ err: error }, 'cannot read heartbeats; retrying')
    }
    timer = setTimeout(() => void poll(), Math.max(0, HEARTBEAT_POLL_MS - (performance.now() - startedAt)))
  }
  return {
    listen(tenantId, listener) {
      const tenantListeners = listeners.get(tenantId) ?? new Set()
      listeners.set(tenantId, tenantListeners.add(listener))
      if (!timer) {
        readAt = performance.now()
        timer = setTimeout(() => void poll(), 0)
      }
      return () => {
        tenantListeners.delete(listener)
        if (tenantListeners.size === 0 && listeners.get(tenantId) === tenantListeners) listeners.delete(tenantId)
      }
    },
  }
}
