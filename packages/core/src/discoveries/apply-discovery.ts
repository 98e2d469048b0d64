import type { Discovery } from '@muster/discovery'
import { and, eq, getColumns, not, type SQL, sql } from 'drizzle-orm'
import type { Ctx, Tx } from '../kernel/context.ts'
import { isOneOf, visibleTo } from '../kernel/db/rows.ts'
import { int4 } from '../kernel/db/sanitize.ts'
import { sqlSeconds } from '../kernel/db/sql-time.ts'
import { accelerators, type ComputeNode, computeNodes } from '../nodes/tables.ts'
import { identify } from './accelerator-identity.ts'

/** More devices than any machine has. Output of a broken tool beyond this limit is dropped. */
const MAX_ACCELERATORS = 512
type AcceleratorRow = typeof accelerators.$inferInsert

/** Values to keep while a card is only visible on the PCI bus because its tool does not answer. */
const LASTING = ['model', 'uuid', 'serial', 'slot', 'memoryTotal', 'firmwareVersion', 'computeCapability'] as const

/** Applies a discovery to a node's columns and accelerators. The caller holds the lock on `node`. */
export async function applyDiscovery(tx: Tx, ctx: Ctx, node: ComputeNode, result: Discovery): Promise<void> {
  const { host } = result
  const found = {
    arch: host.arch,
    osName: host.os.name,
    osId: host.os.id,
    osVersion: host.os.versionId,
    kernel: host.kernel,
    cpuModel: host.cpu.model,
    cpuSockets: int4(host.cpu.sockets),
    cpuCores: int4(host.cpu.cores),
    cpuThreads: int4(host.cpu.threads),
    memoryBytes: host.memoryBytes,
    machineId: host.machineId,
    bootId: host.bootId,
    bootedAt: bootedAt(node, host),
  }
  // A truncated probe does not show that missing values are gone.
  const columns = result.truncated ? Object.fromEntries(Object.entries(found).filter(([, value]) => value !== null)) : found
  const isTrusted = node.hostKey === null || node.offeredHostKey === null
  await tx
    .update(computeNodes)
    .set({
      ...columns,
      facts: result.truncated && node.facts ? node.facts : host,
      discoveredAt: sql`now()`,
      lastSeenAt: sql`now()`,
      ...(isTrusted
        ? { unreachableSince: null, unreachableReason: null, readyAt: sql`coalesce(${computeNodes.readyAt}, now())` }
        : {}),
    })
    .where(and(visibleTo(ctx, computeNodes), eq(computeNodes.id, node.id)))
  await replaceAccelerators(tx, ctx, node, result)
}

/** The probe reads uptime with a small delay. A node that did not reboot therefore keeps its first boot time. */
function bootedAt(node: ComputeNode, { bootId, uptimeSeconds }: Discovery['host']): Date | SQL | null {
  if (node.bootedAt && bootId !== null && bootId === node.bootId) return node.bootedAt
  if (uptimeSeconds === null || uptimeSeconds > 3e9) return null
  return sql`now() - ${sqlSeconds(uptimeSeconds)}`
}

const VENDORS: Record<string, string> = {
  'nvidia-smi': 'nvidia',
  'amd-smi': 'amd',
  'rocm-smi': 'amd',
  'xpu-smi': 'intel',
  'npu-smi': 'huawei',
  'ppu-smi': 'thead',
}

/**
 * Returns vendors without devices in the result because their tool hung or failed, with the reason. Their devices stay with
 * unknown health, because a broken tool does not show that they are gone.
 */
function silentVendors({ tools, accelerators: found }: Discovery): Map<string, string> {
  const silent = new Map<string, string>()
  for (const { tool, state, reason } of tools) {
    const vendor = VENDORS[tool]
    if (!vendor || found.some((a) => a.vendor === vendor)) continue
    if (state === 'FAILED' || state === 'TIMED_OUT')
      silent.set(vendor, `${tool} ${state === 'FAILED' ? 'failed' : 'hung'}${reason ? `: ${reason}` : ''}`)
  }
  for (const { tool, state } of tools) if (state === 'OK') silent.delete(VENDORS[tool] ?? '')
  return silent
}

async function replaceAccelerators(tx: Tx, ctx: Ctx, node: ComputeNode, result: Discovery): Promise<void> {
  const ofNode = and(visibleTo(ctx, accelerators), eq(accelerators.nodeId, node.id))
  const known = await tx.select().from(accelerators).where(ofNode)
  const found = result.accelerators.slice(0, MAX_ACCELERATORS)
  const identities = identify(found, known)
  const rows = found.map((a, i): AcceleratorRow => {
    const { memoryUnified, ...same } = a
    const row: AcceleratorRow = {
      ...same,
      tenantId: ctx.tenantId,
      nodeId: node.id,
      identity: identities[i]!,
      index: int4(a.index) ?? i,
      numaNode: int4(a.numaNode),
      isMemoryUnified: memoryUnified,
    }
    const before = a.source === 'pci' ? known.find((k) => k.identity === identities[i]) : undefined
    return before ? { ...row, ...Object.fromEntries(LASTING.map((field) => [field, before[field] ?? row[field] ?? null])) } : row
  })
  const isGone = and(ofNode, sql`not (${accelerators.identity} = any(${sql.param(identities)}::text[]))`)
  const silent = silentVendors(result)
  if (!result.truncated)
    await tx.delete(accelerators).where(and(isGone, not(isOneOf(accelerators.vendor, [...silent.keys()], 'text'))))
  for (const [vendor, healthReason] of silent)
    await tx
      .update(accelerators)
      .set({ health: 'unknown', healthReason })
      .where(and(isGone, eq(accelerators.vendor, vendor)))
  if (rows.length === 0) return
  const {
    id: _id,
    tenantId: _tenant,
    nodeId: _node,
    identity: _identity,
    firstSeenAt: _first,
    lastSeenAt: _last,
    ...columns
  } = getColumns(accelerators)
  const newest = Object.fromEntries(
    Object.entries(columns).map(([key, column]) => [key, sql`excluded.${sql.identifier(column.name)}`]),
  )
  await tx
    .insert(accelerators)
    .values(rows)
    .onConflictDoUpdate({ target: [accelerators.nodeId, accelerators.identity], set: { ...newest, lastSeenAt: sql`now()` } })
}
