import { nodeStateWord } from '@muster/slurm'
import { and, asc, eq } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { agents } from '../../agents/tables.ts'
import { slurmClusters, slurmNodes } from '../../clusters/tables.ts'
import { visibleTo } from '../../kernel/db/rows.ts'
import { type TestRuntime, testRuntime } from '../../testing/runtime.ts'
import { slurmNode } from '../../testing/slurm-fixture.ts'
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
  slurm?: { states: string[]; reason?: string; cluster?: Partial<typeof slurmClusters.$inferInsert> }
}
const LATE = new Date(Date.now() - 300_000)

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
  ['a node that Slurm uses', { slurm: { states: ['MIXED'] } }, 'HEALTHY', null],
  ['a node that is powered down', { slurm: { states: ['IDLE', 'CLOUD', 'POWERED_DOWN', 'NOT_RESPONDING'] } }, 'HEALTHY', null],
  [
    'a node that does not respond to Slurm',
    { slurm: { states: ['IDLE', 'NOT_RESPONDING'] } },
    'UNHEALTHY',
    'The Slurm cluster hopper shows the state IDLE*.',
  ],
  [
    'a node that is down in Slurm',
    { slurm: { states: ['DOWN', 'NOT_RESPONDING'], reason: 'Not responding' } },
    'UNHEALTHY',
    'The Slurm cluster hopper shows the state DOWN*: Not responding.',
  ],
  [
    'a node with an invalid registration',
    { slurm: { states: ['IDLE', 'DRAIN', 'INVALID_REG'], reason: 'Low RealMemory' } },
    'UNHEALTHY',
    'The Slurm cluster hopper shows the state INVAL: Low RealMemory.',
  ],
  [
    'a drained node',
    { slurm: { states: ['IDLE', 'DRAIN'], reason: 'swap fan.' } },
    'DEGRADED',
    'The Slurm cluster hopper shows the state DRAINED: swap fan.',
  ],
  [
    'a node that is down in a cluster that does not answer',
    { slurm: { states: ['DOWN'], cluster: { failingSince: new Date() } } },
    'HEALTHY',
    null,
  ],
  [
    'a node that is down in a cluster that is read too late',
    { slurm: { states: ['DOWN'], cluster: { nextRefreshAt: LATE } } },
    'HEALTHY',
    null,
  ],
  [
    'a decommissioned node',
    { row: { decommissionedAt: new Date() }, agent: 'OFFLINE', device: { health: 'lost' }, slurm: { states: ['DOWN'] } },
    'UNKNOWN',
    'The node is decommissioned.',
  ],
])('%s', async (_title, { row = {}, agent, device, slurm }, status, reason) => {
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
  if (slurm) {
    const shared = { tenantId: own.tenant.id, name: 'hopper', createdByName: 'test', refreshedAt: new Date() }
    const [cluster] = await db
      .insert(slurmClusters)
      .values({ ...shared, kind: 'EXTERNAL', controllerNodeId: node!.id, nextRefreshAt: new Date(), ...slurm.cluster })
      .returning()
    const report = slurmNode('n1', { states: slurm.states, reason: slurm.reason ?? null })
    const counts = { cpus: 1, allocatedCpus: 0, gpus: 0, allocatedGpus: 0 }
    await db.insert(slurmNodes).values({
      ...{ tenantId: own.tenant.id, clusterId: cluster!.id, name: 'n1', partitions: [], ...counts, report, nodeId: node!.id },
      ...{ states: slurm.states, state: nodeStateWord(slurm.states) },
    })
  }
  const [found] = await db
    .select({ health: nodeHealth(computeNodes), status: nodeHealthStatus(computeNodes) })
    .from(computeNodes)
    .where(visibleTo(own.operator, computeNodes))
    .orderBy(asc(computeNodes.id))
  expect(found).toEqual({ health: { status, reason }, status })
})
