import type { AgentState } from '@muster/core/agents'
import type { Runtime } from '@muster/core/registry'
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

/** How often nodes that were heard, or changed their state, are read; so nobody is told of a node more often than this. */
export const HEARTBEAT_POLL_MS = 1000
/** What is committed may be some time older than its commit, so each reading looks back further than the one before. */
const OVERLAP_MS = 5000

const ROW = sql`select a.node_id as "nodeId", a.tenant_id as "tenantId", n.name, a.cluster, a.state,
    a.state_since as "stateSince", b.received_at as "receivedAt", b.sequence::float8 as sequence, b.skew_ms as "skewMs", b.health,
    b.cpu_percent as "cpuPercent", b.memory_percent as "memoryPercent"
  from ${agents} a
  join ${computeNodes} n on n.id = a.node_id
  left join ${agentHeartbeats} b on b.node_id = a.node_id`

/** A node as it is now, if it is the tenant's and has an agent. */
export async function readHeartbeat({ db }: Runtime, tenantId: string, nodeId: string): Promise<LiveHeartbeat | null> {
  const { rows } = await db.execute<LiveHeartbeat>(sql`${ROW} where a.node_id = ${nodeId} and a.tenant_id = ${tenantId}`)
  return rows[0] ?? null
}

type Listener = (beats: LiveHeartbeat[]) => void
type Reader = { listen(tenantId: string, listener: Listener): () => void }
const readers = new WeakMap<Runtime['db'], Reader>()

/** The process's one reader of what agents say; it reads only while somebody listens, once for all of them. */
export function createHeartbeatReader(runtime: Runtime): Reader {
  const known = readers.get(runtime.db)
  if (known) return known
  const reader = createReader(runtime)
  readers.set(runtime.db, reader)
  return reader
}

function createReader({ db, log }: Runtime): Reader {
  const listeners = new Map<string, Set<Listener>>()
  let told = new Map<string, string>()
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
    const seen = new Map(rows.map((row) => [row.nodeId, `${row.receivedAt} ${row.stateSince} ${row.state}`]))
    const news = Map.groupBy(
      rows.filter((row) => told.get(row.nodeId) !== seen.get(row.nodeId)),
      (row) => row.tenantId,
    )
    told = seen
    for (const [tenantId, beats] of news) for (const listener of listeners.get(tenantId) ?? []) listener(beats)
  }
  async function go(): Promise<void> {
    if (listeners.size === 0) {
      timer = undefined
      return
    }
    const startedAt = performance.now()
    try {
      await read()
    } catch (error) {
      log.warn({ err: error }, 'cannot read heartbeats; trying again')
    }
    timer = setTimeout(() => void go(), Math.max(0, HEARTBEAT_POLL_MS - (performance.now() - startedAt)))
  }
  return {
    listen(tenantId, listener) {
      const mine = listeners.get(tenantId) ?? new Set()
      listeners.set(tenantId, mine.add(listener))
      if (!timer) {
        readAt = performance.now()
        timer = setTimeout(() => void go(), 0)
      }
      return () => {
        mine.delete(listener)
        if (mine.size === 0 && listeners.get(tenantId) === mine) listeners.delete(tenantId)
      }
    },
  }
}
