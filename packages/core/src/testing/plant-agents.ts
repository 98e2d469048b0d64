import { randomBytes } from 'node:crypto'
import type { SignedBeat } from '../agents/accept-heartbeats.ts'
import { type AgentState, agentBeats, agentKeys, agents } from '../agents/tables.ts'
import type { Ctx } from '../context.ts'
import { newId } from '../db/columns.ts'
import { computeNodes } from '../nodes/tables.ts'

export type PlantedAgent = { nodeId: string; keyId: string; name: string }

/** Agents with nodes and keys of their own, as rows: heard at `heardAt`, and in `state` since then. */
export async function plantAgents(
  { db, tenantId }: Pick<Ctx, 'db' | 'tenantId'>,
  count: number,
  {
    state = 'ACTIVE',
    heardAt = null,
    cluster = 'lab',
    prefix = 'a',
  }: { state?: AgentState; heardAt?: Date | null; cluster?: string; prefix?: string } = {},
): Promise<PlantedAgent[]> {
  const planted = Array.from({ length: count }, (_, i) => ({
    nodeId: newId(),
    keyId: newId(),
    name: `${prefix}${String(i).padStart(5, '0')}`,
  }))
  for (let from = 0; from < count; from += 1000) {
    const some = planted.slice(from, from + 1000)
    await db.insert(computeNodes).values(some.map(({ nodeId: id, name }) => ({ id, tenantId, name, host: '127.0.0.1' })))
    await db.insert(agentKeys).values(
      some.map(({ nodeId, keyId: id }) => ({
        id,
        tenantId,
        nodeId,
        publicKey: randomBytes(32).toString('base64'),
        status: 'ALLOWED' as const,
        createdByName: 'test',
      })),
    )
    const registeredAt = heardAt ?? new Date('2020-01-01')
    await db.insert(agents).values(
      some.map(({ nodeId, keyId, name }) => ({
        nodeId,
        tenantId,
        agentId: name,
        cluster,
        state,
        keyId,
        registeredAt,
        stateSince: registeredAt,
      })),
    )
    await db.insert(agentBeats).values(some.map(({ nodeId }) => ({ nodeId, heardAt })))
  }
  return planted
}

/** A heartbeat of a planted agent, its signature taken for granted. */
export function beatOf(
  { nodeId, keyId, name }: PlantedAgent,
  sequence: number,
  time: Date,
  more: Partial<SignedBeat['heartbeat']> = {},
): SignedBeat {
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
