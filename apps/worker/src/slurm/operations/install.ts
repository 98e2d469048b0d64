import type { ConfigFiles } from '@muster/slurm/config'
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
  const failed: FailedHosts = new Map()
  for (const nodeId of nodeIds) {
    try {
      for (const [id, reason] of await runRole(op, [nodeId], `${part}-${nodeId}`, vars)) failed.set(id, reason)
    } catch (error) {
      if (!(error instanceof RunRefused)) throw error
      failed.set(nodeId, error.message)
    }
  }
  return failed
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
