import { randomBytes } from 'node:crypto'
import { type AgentState, agentKeys, agents } from '../agents/tables.ts'
import type { SignedHeartbeat } from '../heartbeats/accept-heartbeats.ts'
import { agentHeartbeats } from '../heartbeats/tables.ts'
import type { Ctx } from '../kernel/context.ts'
import { newId } from '../kernel/db/columns.ts'
import { computeNodes } from '../nodes/tables.ts'
import { insertMany } from './insert-many.ts'

export type InsertedAgent = { nodeId: string; keyId: string; name: string }

/** Agents with nodes and keys of their own, as rows: heard at `receivedAt`, and in `state` since then. */
export async function insertAgents(
  { db, tenantId }: Pick<Ctx, 'db' | 'tenantId'>,
  count: number,
  {
    state = 'ACTIVE',
    receivedAt = null,
    cluster = 'lab',
    prefix = 'a',
  }: { state?: AgentState; receivedAt?: Date | null; cluster?: string; prefix?: string } = {},
): Promise<InsertedAgent[]> {
  const nodes = Array.from({ length: count }, (_, i) => ({ id: newId(), name: `${prefix}${String(i).padStart(5, '0')}` }))
  await insertMany(
    db,
    computeNodes,
    nodes.map((node) => ({ ...node, tenantId, host: '127.0.0.1' })),
  )
  return insertAgentsOfNodes({ db, tenantId }, nodes, () => ({ state, receivedAt, cluster }))
}

/** Columns of an agent; omitted columns have the values of a healthy agent. */
export type AgentColumns = Partial<typeof agents.$inferInsert> & {
  receivedAt?: Date | null
  heartbeat?: Partial<typeof agentHeartbeats.$inferInsert>
}

/**
 * An agent with an allowed key and a heartbeat row for each of `nodes`.
 * @param agentOf columns by the node's place
 */
export async function insertAgentsOfNodes(
  { db, tenantId }: Pick<Ctx, 'db' | 'tenantId'>,
  nodes: { id: string; name: string }[],
  agentOf: (i: number) => AgentColumns = () => ({}),
): Promise<InsertedAgent[]> {
  const inserted = nodes.map(({ id, name }) => ({ nodeId: id, keyId: newId(), name }))
  const columns = inserted.map((_, i) => agentOf(i))
  await insertMany(
    db,
    agentKeys,
    inserted.map(({ nodeId, keyId: id }) => ({
      id,
      tenantId,
      nodeId,
      publicKey: randomBytes(32).toString('base64'),
      status: 'ALLOWED' as const,
      createdByName: 'test',
    })),
  )
  await insertMany(
    db,
    agents,
    inserted.map(({ nodeId, keyId, name }, i) => {
      const { receivedAt, heartbeat: _, ...given } = columns[i]!
      const registeredAt = given.registeredAt ?? receivedAt ?? new Date('2020-01-01')
      return {
        nodeId,
        tenantId,
        agentId: name,
        cluster: 'lab',
        state: 'ACTIVE' as AgentState,
        keyId,
        stateSince: registeredAt,
        ...given,
        registeredAt,
      }
    }),
  )
  await insertMany(
    db,
    agentHeartbeats,
    inserted.map(({ nodeId }, i) => ({
      ...columns[i]!.heartbeat,
      nodeId,
      receivedAt: columns[i]!.receivedAt ?? null,
    })),
  )
  return inserted
}

/** A heartbeat of an inserted agent, as if its signature were verified. */
export function heartbeatOf(
  { nodeId, keyId, name }: InsertedAgent,
  sequence: number,
  time: Date,
  more: Partial<SignedHeartbeat['heartbeat']> = {},
): SignedHeartbeat {
  const heartbeat = {
    node_id: name,
    cluster_id: 'lab',
    sequence_number: sequence,
    timestamp: time.toISOString(),
    capacity: { cpu_cores_total: 8, gpus_total: 4 },
    health: { status: 'healthy' as const, cpu_utilization_percent: 20, memory_utilization_percent: 30 },
    ...more,
  }
  const signed = Buffer.from(JSON.stringify(heartbeat))
  return { nodeId, keyId, bootEpoch: 1, sequence, time: time.getTime(), heartbeat, signed }
}
