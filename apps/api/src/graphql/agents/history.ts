import type { AgentReason as Reason } from '@muster/core/agents'
import { schema } from '@muster/core/registry'
import { sql } from 'drizzle-orm'
import { builder } from '../../builder.ts'
import { loader } from '../shared/loaders.ts'
import { AgentReason, AgentState } from './enums.ts'

const { agentHeartbeatHistory, agentHeartbeats, agentTransitions } = schema

type Bucket = {
  nodeId: string
  at: string
  beats: number
  missed: number
  cpuPercent: number | null
  memoryPercent: number | null
  maxSkewMs: number | null
}

export const AgentBucket = builder.objectRef<Bucket>('AgentBucket').implement({
  description: 'Five minutes of heartbeats.',
  fields: (t) => ({
    at: t.field({ type: 'DateTime', description: 'When they began.', resolve: ({ at }) => new Date(at) }),
    beats: t.exposeInt('beats', { description: 'How many heartbeats were accepted.' }),
    missed: t.exposeInt('missed', { description: 'How many never came, as their sequence numbers tell.' }),
    cpuPercent: t.exposeFloat('cpuPercent', { nullable: true, description: 'Mean use of the processors; null: not told.' }),
    memoryPercent: t.exposeFloat('memoryPercent', { nullable: true, description: 'Mean use of the memory; null: not told.' }),
    maxSkewMs: t.exposeInt('maxSkewMs', { nullable: true, description: "How far the agent's clock was off at most, in ms." }),
  }),
})

/** The last day of each node in five minutes, oldest first; the ones that go on stand in the hot row until they are over. */
export const bucketsOf = loader<Bucket[]>(async ({ ctx }, nodeIds) => {
  const ids = sql.param([...nodeIds])
  const { rows } = await ctx.db.execute<Bucket>(sql`
    select node_id as "nodeId", bucket_at as "at", beats, missed, cpu_percent as "cpuPercent",
        memory_percent as "memoryPercent", max_skew_ms as "maxSkewMs"
      from ${agentHeartbeatHistory} where node_id = any(${ids}::uuid[]) and bucket_at > now() - interval '24 hours'
    union all
    select node_id, bucket_at, bucket_heartbeats, bucket_missed,
        case when cpu_percent is not null then bucket_cpu_sum / bucket_heartbeats end,
        case when memory_percent is not null then bucket_memory_sum / bucket_heartbeats end, bucket_max_skew_ms
      from ${agentHeartbeats}
      where node_id = any(${ids}::uuid[]) and bucket_heartbeats > 0 and bucket_at > now() - interval '24 hours'
    order by 2`)
  return grouped(rows)
})

type Transition = Pick<typeof agentTransitions.$inferSelect, 'nodeId' | 'from' | 'to' | 'evidence'> & {
  reason: Reason
  at: string
}

export const AgentTransition = builder.objectRef<Transition>('AgentTransition').implement({
  description: "A change of an agent's state.",
  fields: (t) => ({
    from: t.expose('from', { type: AgentState, nullable: true, description: 'What it was; null: it registered.' }),
    to: t.expose('to', { type: AgentState, description: 'What it became.' }),
    reason: t.expose('reason', { type: AgentReason, description: 'Why.' }),
    evidence: t.expose('evidence', { type: 'JSON', description: 'What it was judged by, an object.' }),
    at: t.field({ type: 'DateTime', description: 'When.', resolve: ({ at }) => new Date(at) }),
  }),
})

/** The last hundred of each node, newest first. */
export const transitionsOf = loader<Transition[]>(async ({ ctx }, nodeIds) => {
  const { rows } = await ctx.db.execute<Transition>(sql`
    select t.node_id as "nodeId", t."from", t."to", t.reason, t.evidence, t.at
    from unnest(${sql.param([...nodeIds])}::uuid[]) asked(id)
    cross join lateral (select * from ${agentTransitions} x where x.node_id = asked.id order by x.id desc limit 100) t
    order by t.id desc`)
  return grouped(rows)
})

function grouped<T extends { nodeId: string }>(rows: T[]): Map<string, T[]> {
  const byNode = new Map<string, T[]>()
  for (const row of rows) {
    const of = byNode.get(row.nodeId)
    if (of) of.push(row)
    else byNode.set(row.nodeId, [row])
  }
  return byNode
}
