import { sql } from 'drizzle-orm'
import type { SystemCtx } from '../kernel/context.ts'
import { type AgentState, agentKeys, agents } from './tables.ts'

/** The data needed to check a heartbeat before it is stored. */
export type CachedAgent = {
  agentId: string
  nodeId: string
  tenantId: string
  cluster: string
  state: AgentState
  /** Keys that may sign for it: the one it registered with, then the newest. */
  keys: { id: string; publicKey: string }[]
}

/**
 * All agents with these ids in all tenants, with their allowed keys. An id may occur in several tenants; the key distinguishes
 * them.
 */
export async function findAgents({ db }: Pick<SystemCtx, 'db'>, agentIds: string[]): Promise<CachedAgent[]> {
  const { rows } = await db.execute<CachedAgent>(sql`
    select a.agent_id as "agentId", a.node_id as "nodeId", a.tenant_id as "tenantId", a.cluster, a.state,
      coalesce(jsonb_agg(jsonb_build_object('id', k.id, 'publicKey', k.public_key)
        order by k.id = a.key_id desc nulls last, k.id desc) filter (where k.id is not null), '[]') as keys
    from ${agents} a left join ${agentKeys} k on k.node_id = a.node_id and k.status = 'ALLOWED'
    where a.agent_id = any(${sql.param(agentIds)}::text[])
    group by a.node_id order by a.node_id`)
  return rows
}
