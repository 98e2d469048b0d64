import { and, asc, eq } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { agents } from '../../agents/tables.ts'
import { visibleTo } from '../../kernel/db/rows.ts'
import { type TestRuntime, testRuntime } from '../../testing/runtime.ts'
import { accelerators, computeNodes } from '../tables.ts'
import { nodeHealth, nodeHealthStatus } from './index.ts'

let t: TestRuntime
beforeAll(async () => {
  t = await testRuntime()
})
afterAll(() => t.close())

type Case = {
  row?: Partial<typeof computeNodes.$inferInsert>
  agent?: 'ACTIVE' | 'STALE' | 'OFFLINE' | 'PENDING' | 'DRAINED' | 'DEREGISTERED'
  device?: { health: 'ok' | 'warning' | 'critical' | 'lost' | 'unknown'; healthReason?: string }
}

test.each<[string, Case, string, string | null]>([
  ['a ready node', {}, 'HEALTHY', null],
  ['a node without a successful connection test', { row: { readyAt: null } }, 'UNKNOWN', 'No connection test has succeeded yet.'],
  ['an unreachable node', { row: { unreachableSince: new Date(), unreachableReason: 'Timeout.' } }, 'UNHEALTHY', 'Timeout.'],
  ['an active agent', { agent: 'ACTIVE' }, 'HEALTHY', null],
  ['a drained agent', { agent: 'DRAINED' }, 'HEALTHY', null],
  ['a stale agent', { agent: 'STALE' }, 'DEGRADED', 'The agent missed heartbeats.'],
  ['an offline agent', { agent: 'OFFLINE' }, 'UNHEALTHY', 'The agent is offline: it sends no heartbeats.'],
  ['a pending agent', { agent: 'PENDING' }, 'UNKNOWN', 'The agent has not sent a heartbeat yet.'],
  ['a deregistered agent', { agent: 'DEREGISTERED' }, 'HEALTHY', null],
  ['healthy accelerators', { device: { health: 'ok' } }, 'HEALTHY', null],
  ['accelerators of unknown health', { device: { health: 'unknown' } }, 'HEALTHY', null],
  [
    'an accelerator with a warning',
    { device: { health: 'warning', healthReason: 'The device is hot.' } },
    'DEGRADED',
    'Accelerator 1 has the health WARNING: The device is hot.',
  ],
  ['a critical accelerator', { device: { health: 'critical' } }, 'UNHEALTHY', 'Accelerator 1 has the health CRITICAL.'],
  ['a lost accelerator', { device: { health: 'lost' } }, 'UNHEALTHY', 'Accelerator 1 has the health LOST.'],
  [
    'a lost accelerator and a stale agent',
    { agent: 'STALE', device: { health: 'lost' } },
    'UNHEALTHY',
    'Accelerator 1 has the health LOST.',
  ],
  [
    'SSH before an equally bad agent',
    { row: { unreachableSince: new Date(), unreachableReason: 'Timeout.' }, agent: 'OFFLINE' },
    'UNHEALTHY',
    'Timeout.',
  ],
  [
    'a decommissioned node',
    { row: { decommissionedAt: new Date() }, agent: 'OFFLINE', device: { health: 'lost' } },
    'UNKNOWN',
    'The node is decommissioned.',
  ],
])('%s', async (_title, { row = {}, agent, device }, status, reason) => {
  const { db } = t.runtime
  const own = await t.given.tenant()
  const [node] = await t.given.fleet(own.operator, { nodes: 1, accelerators: device ? 2 : 0, with: () => row })
  if (device)
    await db
      .update(accelerators)
      .set(device)
      .where(and(eq(accelerators.nodeId, node!.id), eq(accelerators.index, 1)))
  if (agent)
    await db
      .insert(agents)
      .values({ nodeId: node!.id, tenantId: node!.tenantId, agentId: node!.name, cluster: 'c', state: agent })
  const [found] = await db
    .select({ health: nodeHealth(computeNodes), status: nodeHealthStatus(computeNodes) })
    .from(computeNodes)
    .where(visibleTo(own.operator, computeNodes))
    .orderBy(asc(computeNodes.id))
  expect(found).toEqual({ health: { status, reason }, status })
})
