import type { Ctx } from '@muster/core/context'
import { DomainError } from '@muster/core/errors'
import { schema } from '@muster/core/registry'
import { retryTransient } from '@muster/core/retry-transient'
import { blockedNodes } from '@muster/core/runs'
import type { ConfigFiles } from '@muster/slurm/config'
import { and, eq, inArray } from 'drizzle-orm'
import { applyState, waitForState } from '../salt/apply-state.ts'
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

/** The state of the site, as docs/salt/slurm/node.sls is one. */
const NODE_STATE = 'slurm.node'

/** Hosts that did not succeed, by node ID, with the reason. */
export type FailedHosts = Map<string, string>

/** Installs Slurm on nodes. A node that has it already does not change. */
export async function installSlurm(
  op: OperationContext,
  nodeIds: string[],
  { role, controllers = [], start, config, stateFolder }: Install,
): Promise<FailedHosts> {
  const failed = await applyRole(op, nodeIds, role, 'present')
  const others = nodeIds.filter((id) => !failed.has(id))
  const configured = await runRole(op, others, `${role}-${start ? 'start' : 'install'}`, {
    slurm_node_role: role,
    slurm_node_start: start,
    ...(controllers.length > 0 ? { slurm_node_controllers: controllers } : {}),
    ...(config ? { slurm_node_config: config } : {}),
    ...(stateFolder ? { slurm_node_state_folder: stateFolder } : {}),
  })
  return new Map([...failed, ...configured])
}

/** Installs or removes the packages of nodes where Salt does that; otherwise the playbook does. */
async function applyRole(op: OperationContext, nodeIds: string[], role: Role, state: 'present' | 'absent'): Promise<FailedHosts> {
  if (!op.cluster.saltInstalls || nodeIds.length === 0) return new Map()
  const { prefix = null, repositoryUrl = null, repositoryKey = null } = op.cluster.install ?? {}
  const pillar = { role, state, prefix, repository_url: repositoryUrl, repository_key: repositoryKey }
  // The packages of a role are installed once in an operation; steps that repeat the role only configure them.
  const key = state === 'present' ? role : `${op.step}/${role}/absent`
  return applyState(op, key, nodeIds, { name: NODE_STATE, pillar: { slurm_node: pillar } })
}

/** Removes Slurm and the munge key from nodes. A database stays. Nodes that a run must not use are skipped; the others are cleaned up. */
export async function removeSlurm(
  op: OperationContext,
  nodeIds: string[],
  role: Role,
  stateFolder?: string,
): Promise<FailedHosts> {
  if (op.cluster.saltInstalls) await waitForState(op, role)
  const failed = await stopSlurm(op, nodeIds, role, stateFolder)
  const others = nodeIds.filter((id) => !failed.has(id))
  try {
    return new Map([...failed, ...(await applyRole(op, others, role, 'absent'))])
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    return new Map([...failed, ...others.map((id) => [id, error.message] as const)])
  }
}

/** Stops the daemons, and removes the key, the configuration, and the packages unless Salt does. */
async function stopSlurm(op: OperationContext, nodeIds: string[], role: Role, stateFolder?: string): Promise<FailedHosts> {
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
    ...(op.cluster.saltInstalls ? { slurm_node_manage_packages: false } : {}),
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
