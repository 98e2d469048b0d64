import { eq, sql } from 'drizzle-orm'
import { type ComputeNode, computeNodes } from '../nodes/index.ts'
import { recordSlurmConfigRollout } from '../slurm-configs/index.ts'
import { type SlurmOperation, slurmOperations } from '../slurm-operations/index.ts'
import { createSlurmCluster, storeScaledConfig } from '../slurm-scaling/index.ts'
import type { TestRuntime } from './runtime.ts'

const HOST_KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIOMqqnkVzrm0SdG6UOoqKLsabgH5C9okWi0dh2l9GKJl'

export const configLineOf = ({ name }: ComputeNode) => `NodeName=${name.toLowerCase()} CPUs=32 RealMemory=1000`

export type ScalingFixture = Awaited<ReturnType<typeof scalingFixture>>

/** A tenant with twelve READY nodes of 32 threads. */
export async function scalingFixture(t: TestRuntime) {
  const ours = await t.given.tenant()
  const { id: credentialId } = await t.given.credential(ours.admin, 'SSH_KEY')
  const added = await t.given.fleet(ours.admin, { nodes: 12, with: { hostKey: HOST_KEY, credentialId } })
  const ready = await t.runtime.db
    .update(computeNodes)
    .set({ readyAt: sql`now()`, cpuSockets: 2, cpuCores: 16, cpuThreads: 32, memoryBytes: 64 * 1024 ** 3 })
    .where(eq(computeNodes.tenantId, ours.tenant.id))
    .returning()
  const nodes = added.map(({ id }) => ready.find((node) => node.id === id)!)
  const idsOf = (from: number, to: number) => nodes.slice(from, to).map(({ id }) => id)
  const create = (more: object = {}, ctx = ours.admin) =>
    createSlurmCluster(ctx, {
      name: 'prod',
      controllerNodeId: nodes[0]!.id,
      computeNodeIds: idsOf(1, 3),
      reason: 'test',
      ...more,
    })
  const end = ({ id }: SlurmOperation) =>
    t.runtime.db.update(slurmOperations).set({ finishedAt: sql`now()` }).where(eq(slurmOperations.id, id))

  /** A cluster of nodes[1] and nodes[10], whose names begin alike. */
  async function created(more: object = {}): Promise<string> {
    const operation = await create({ computeNodeIds: [nodes[1]!.id, nodes[10]!.id], ...more })
    const members = [nodes[1]!, nodes[10]!]
    const text = [
      'ClusterName=prod',
      `SlurmctldHost=${nodes[0]!.name}`,
      ...members.map(configLineOf),
      'PartitionName=batch Nodes=ALL Default=YES',
      '',
    ]
    const version = await storeScaledConfig(ours.worker, {
      operation,
      origin: 'CREATED',
      files: { 'slurm.conf': text.join('\n') },
      settings: null,
    })
    await recordSlurmConfigRollout(ours.worker, { clusterId: operation.clusterId, number: version.number })
    await end(operation)
    return operation.clusterId
  }
  return { ours, nodes, idsOf, create, created, end }
}
