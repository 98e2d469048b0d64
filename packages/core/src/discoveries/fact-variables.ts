import { and, asc, eq, isNotNull } from 'drizzle-orm'
import type { Ctx } from '../kernel/context.ts'
import { isOneOf, visibleTo } from '../kernel/db/rows.ts'
import { accelerators, computeNodes } from '../nodes/tables.ts'

/** By device type: the variable with the node's list of devices, and the key of the toolkit version in an entry. */
const FACT_KEYS = {
  nvidia_gpu: { key: 'nvidia_gpus', toolkit: 'cuda_version' },
  amd_gpu: { key: 'amd_gpus', toolkit: 'rocm_version' },
  intel_gpu: { key: 'intel_gpus', toolkit: 'oneapi_version' },
  huawei_npu: { key: 'ascend_npus', toolkit: 'cann_version' },
  thead_npu: { key: 'thead_npus', toolkit: 'hggc_version' },
} as const

/**
 * Returns variables that describe each node's accelerators from the last discovery: one list per vendor, empty when there are
 * none. Nodes without a discovery are absent. Memory is in bytes; values that the vendor's tool did not report are null.
 */
export async function factVariables(
  ctx: Pick<Ctx, 'db' | 'tenantId'>,
  nodeIds: string[],
): Promise<Map<string, Record<string, unknown[]>>> {
  const [nodes, devices] = await Promise.all([
    ctx.db
      .select({ id: computeNodes.id })
      .from(computeNodes)
      .where(and(visibleTo(ctx, computeNodes), isOneOf(computeNodes.id, nodeIds), isNotNull(computeNodes.discoveredAt))),
    ctx.db
      .select({
        nodeId: accelerators.nodeId,
        deviceType: accelerators.deviceType,
        index: accelerators.index,
        name: accelerators.model,
        uuid: accelerators.uuid,
        serial: accelerators.serial,
        pciAddress: accelerators.pciAddress,
        numaNode: accelerators.numaNode,
        memoryTotal: accelerators.memoryTotal,
        driverVersion: accelerators.driverVersion,
        firmwareVersion: accelerators.firmwareVersion,
        toolkitVersion: accelerators.toolkitVersion,
        health: accelerators.health,
      })
      .from(accelerators)
      .innerJoin(computeNodes, eq(computeNodes.id, accelerators.nodeId))
      .where(and(visibleTo(ctx, accelerators), isOneOf(accelerators.nodeId, nodeIds), isNotNull(computeNodes.discoveredAt)))
      .orderBy(asc(accelerators.nodeId), asc(accelerators.index), asc(accelerators.pciAddress)),
  ])
  const empty = () => Object.fromEntries(Object.values(FACT_KEYS).map(({ key }): [string, unknown[]] => [key, []]))
  const facts = new Map(nodes.map(({ id }) => [id, empty()]))
  for (const device of devices) {
    if (!(device.deviceType in FACT_KEYS)) continue
    const { key, toolkit } = FACT_KEYS[device.deviceType as keyof typeof FACT_KEYS]
    facts.get(device.nodeId)?.[key]?.push({
      index: device.index,
      name: device.name,
      uuid: device.uuid,
      serial: device.serial,
      pci_address: device.pciAddress,
      numa_node: device.numaNode,
      memory_total: device.memoryTotal,
      driver_version: device.driverVersion,
      firmware_version: device.firmwareVersion,
      [toolkit]: device.toolkitVersion,
      health: device.health,
    })
  }
  return facts
}
