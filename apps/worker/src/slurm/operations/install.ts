import type { Ctx } from '@muster/core/context'
import { schema } from '@muster/core/registry'
import { retryTransient } from '@muster/core/retry-transient'
import { blockedNodes } from '@muster/core/runs'
import type { ConfigFiles } from '@muster/slurm/config'
import { and, eq, inArray } from 'drizzle-orm'
import { type OperationContext, RunRefused } from './operation.ts'

type Role = 'controller' | 'compute' | 'login' | 'database'
type Install = {
  role: Role
  /** Addresses of the controllers. */
  controllers?: string[]
  /** False: install only, and start later. */
  start: boolean
  config?: ConfigFiles | undefined
  stateFolder?: string
}

/** Hosts that did not succeed, by node ID, with the reason. */
export type FailedHosts = Map<string, string>

/** Installs Slurm on nodes. A node that has it already does not change. */
export const installSlurm = (
  op: OperationContext,
  nodeIds: string[],
  { role, controllers = [], start, config, stateFolder }: Install,
): Promise<FailedHosts> =>
  runRole(op, nodeIds, `${role}-${start ? 'start' : 'install'}`, {
    slurm_node_role: role,
    slurm_node_start: start,
    ...(controllers.length > 0 ? { slurm_node_controllers: controllers } : {}),
    ...(config ? { slurm_node_config: config } : {}),
    ...(stateFolder ? { slurm_node_state_folder: stateFolder } : {}),
  })

/** Removes Slurm and the munge key from nodes. A database stays. Nodes that a run must not use are skipped; the others are cleaned up. */
export async function removeSlurm(
  op: OperationContext,
  nodeIds: string[],
  role: Role,
  stateFolder?: string,
): Promise<FailedHosts> {
  const vars = {
    slurm_node_role: role,
    slurm_node_state: 'absent',
    ...(stateFolder ? { slurm_node_state_folder: stateFolder } : {}),
  }
  const part = `${role}-remove`
  try {
    return await runRole(op, nodeIds, part, vars)
  } catch (error) {
    if (!(error instanceof RunRefused)) throw error
  }
  const failed = await retryTransient(() => blockedReasons(op.ctx, nodeIds))
  const others = nodeIds.filter((id) => !failed.has(id))
  try {
    return new Map([...failed, ...(await runRole(op, others, `${part}-others`, vars))])
  } catch (error) {
    if (!(error instanceof RunRefused)) throw error
    return new Map([...failed, ...others.map((id) => [id, error.message] as const)])
  }
}

/** Why runs cannot use some of the nodes, by node ID. */
async function blockedReasons(ctx: Ctx, nodeIds: string[]): Promise<FailedHosts> {
  const { computeNodes } = schema
  const nodes = await ctx.db
    .select()
    .from(computeNodes)
    .where(and(eq(computeNodes.tenantId, ctx.tenantId), inArray(computeNodes.id, nodeIds)))
  const blocked = await blockedNodes(
    ctx,
    ctx.db,
    nodes.filter(({ decommissionedAt }) => decommissionedAt === null),
  )
  const known = new Set(nodes.map(({ id }) => id))
  return new Map([
    ...nodeIds.filter((id) => !known.has(id)).map((id) => [id, 'the node was deleted'] as const),
    ...nodes.flatMap(({ id, decommissionedAt }) => (decommissionedAt ? [[id, 'the node is decommissioned'] as const] : [])),
    ...[...blocked].flatMap(([reason, some]) => some.map(({ id }) => [id, reason] as const)),
  ])
}

async function runRole(
  op: OperationContext,
  nodeIds: string[],
  part: string,
  vars: Record<string, unknown>,
): Promise<FailedHosts> {
  if (nodeIds.length === 0) return new Map()
  const { prefix, repositoryUrl, repositoryKey } = op.cluster.install ?? {}
  const source = {
    ...(prefix ? { slurm_node_prefix: prefix } : {}),
    ...(repositoryUrl ? { slurm_node_repository_url: repositoryUrl } : {}),
    ...(repositoryKey ? { slurm_node_repository_key: repositoryKey } : {}),
  }
  const { run, hosts } = await op.startRun('slurm_node', nodeIds.toSorted(), { ...vars, ...source }, part)
  const isOk = (nodeId: string) => ['OK', 'CHANGED'].includes(hosts.get(nodeId)?.result ?? '')
  const reasonOf = (nodeId: string) =>
    hosts.get(nodeId)?.message ?? run.error ?? `the job run ${run.number} ended as ${run.status}`
  return new Map(nodeIds.filter((id) => !isOk(id)).map((id) => [id, reasonOf(id)]))
}
