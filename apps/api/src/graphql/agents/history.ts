import type { AgentReason as Reason } from '@muster/core/agents'
import { schema } from '@muster/core/registry'
import { sql } from 'drizzle-orm'
import { builder } from '../../builder.ts'
import { loader } from '../shared/loaders.ts'
import { AgentReason, AgentState } from './enums.ts'
import { AgentStateEvidence, type StateEvidence } from './evidence.ts'

const { agentHeartbeatHistory, agentHeartbeats, agentTransitions } = schema

type Bucket = {
  nodeId: string
  at: string
  heartbeats: number
  missed: number
  cpuPercent: number | null
  memoryPercent: number | null
  maxSkewMs: number | null
}

export const HeartbeatBucket = builder.objectRef<Bucket>('HeartbeatBucket').implement({
  description: 'Heartbeat statistics of a five-minute interval.',
  fields: (t) => ({
    at: t.field({ type: 'DateTime', description: 'Start of the interval.', resolve: ({ at }) => new Date(at) }),
    heartbeats: t.exposeInt('heartbeats', { description: 'Number of accepted heartbeats.' }),
    missed: t.exposeInt('missed', { description: 'Number of missing sequence numbers.' }),
    cpuPercent: t.exposeFloat('cpuPercent', { nullable: true, description: 'Mean CPU utilization; null when not reported.' }),
    memoryPercent: t.exposeFloat('memoryPercent', {
      nullable: true,
      description: 'Mean memory utilization; null when not reported.',
    }),
    maxSkewMs: t.exposeInt('maxSkewMs', { nullable: true, description: 'Largest absolute clock skew of the agent.' }),
  }),
})

/** The five-minute buckets of the last day by node, oldest first. The current bucket is in the row of the agent. */
export const bucketsOf = loader<Bucket[]>(async ({ ctx }, nodeIds) => {
  const ids = sql.param([...nodeIds])
  const { rows } = await ctx.db.execute<Bucket>(sql`
    select node_id as "nodeId", bucket_at as "at", beats as heartbeats, missed, cpu_percent as "cpuPercent",
        memory_percent as "memoryPercent", max_skew_ms as "maxSkewMs"
      from ${agentHeartbeatHistory} where node_id = any(${ids}::uuid[]) and bucket_at > now() - interval '24 hours'
    union all
    select node_id, bucket_at, bucket_heartbeats, bucket_missed,
        case when cpu_percent is not null then bucket_cpu_sum / bucket_heartbeats end,
        case when memory_percent is not null then bucket_memory_sum / bucket_heartbeats end, bucket_max_skew_ms
      from ${agentHeartbeats}
      where node_id = any(${ids}::uuid[]) and bucket_heartbeats > 0 and bucket_at > now() - interval '24 hours'
    order by 2`)
  return Map.groupBy(rows, ({ nodeId }) => nodeId)
})

type Transition = Pick<typeof agentTransitions.$inferSelect, 'nodeId' | 'from' | 'to'> & {
  evidence: StateEvidence
  reason: Reason
  at: string
}

export const AgentTransition = builder.objectRef<Transition>('AgentTransition').implement({
  description: 'A state change of an agent.',
  fields: (t) => ({
    from: t.expose('from', { type: AgentState, nullable: true, description: 'Previous state; null when the agent registered.' }),
    to: t.expose('to', { type: AgentState, description: 'New state.' }),
    reason: t.expose('reason', { type: AgentReason, description: 'Reason of the change.' }),
    evidence: t.expose('evidence', { type: AgentStateEvidence, description: 'The facts that the change is based on.' }),
    at: t.field({ type: 'DateTime', description: 'When the state changed.', resolve: ({ at }) => new Date(at) }),
  }),
})

/** The last hundred state changes by node, newest first. */
export const transitionsOf = loader<Transition[]>(async ({ ctx }, nodeIds) => {
  const { rows } = await ctx.db.execute<Transition>(sql`
    select t.node_id as "nodeId", t."from", t."to", t.reason, t.evidence, t.at
    from unnest(${sql.param([...nodeIds])}::uuid[]) asked(id)
    cross join lateral (select * from ${agentTransitions} x where x.node_id = asked.id order by x.id desc limit 100) t
    order by t.id desc`)
  return Map.groupBy(rows, ({ nodeId }) => nodeId)
})
