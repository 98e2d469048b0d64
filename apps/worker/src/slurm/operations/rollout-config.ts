import { setTimeout } from 'node:timers/promises'
import { retryTransient } from '@muster/core/retry-transient'
import {
  type ConfigFiles,
  type ConfigHost,
  readSlurmRollout,
  recordSlurmConfigRollout,
  type SlurmRollout,
} from '@muster/core/slurm-configs'
import { SshFailure } from '../../ssh/ssh-failure.ts'
import { readCluster } from '../read-cluster.ts'
import { QueryFailure } from '../run-query.ts'
import { configFolder, describeDifference, expectedHashes, readConfigFiles } from './config-files.ts'
import { type FinishedRun, OperationCanceled, type OperationContext, OperationFailure } from './operation.ts'

const TEMPLATE = 'slurm_configure'
const HEALTH_TIMEOUT_MS = 90_000
const HEALTH_EVERY_MS = 1000

/** Numbers of the version that the hosts have, and of the one that they get. */
export type ConfigChange = { from: number; to: number }

/**
 * Writes a version of the configuration on all hosts of the cluster, makes Slurm read it, and checks that Slurm works. A failure
 * restores the version before. Continues where an earlier execution stopped.
 * @throws OperationFailure hosts have other files, or Slurm does not accept or survive the new ones
 */
export async function rolloutConfig(op: OperationContext, change: ConfigChange): Promise<void> {
  const rollout = await readRollout(op, change)
  await op.report(`Compare the files of ${rollout.hosts.length} hosts with version ${change.from}.`)
  await assertNoDrift(op, rollout, change)
  if (rollout.unknownNodes.length > 0)
    throw new OperationFailure(
      `slurmd of ${rollout.unknownNodes.slice(0, 5).join(', ')} must restart, but the inventory does not have these nodes. Add them, or match them.`,
    )
  const before = await readNodes(op).catch(() => null)
  try {
    await op.report(`Write version ${change.to} on ${rollout.hosts.length} hosts.`)
    await apply(op, rollout, { files: rollout.to, isRestart: rollout.plan.controllers === 'RESTART', name: 'rollout' })
    await op.report('Check that Slurm works.')
    await waitForHealth(op, rollout, before)
  } catch (error) {
    if (!(error instanceof OperationFailure) || error instanceof OperationCanceled || op.signal.aborted) throw error
    const found = await Promise.all(rollout.hosts.map(({ nodeId }) => readHost(op, nodeId).catch(() => null)))
    // Hosts refused the files before the first one was changed.
    if (found.every((files) => describeDifference(rollout.from, files) === null)) throw error
    await op.report(`Restore version ${change.from}.`)
    await restore(op, rollout, error)
  }
  await retryTransient(() => recordSlurmConfigRollout(op.ctx, { clusterId: op.cluster.id, number: change.to }))
}

/**
 * Restores the version before on hosts that a canceled rollout has changed. A rollout that failed has restored it already, and one that
 * found other files has written nothing.
 */
export async function undoRollout(op: OperationContext, change: ConfigChange): Promise<void> {
  const rollout = await readRollout(op, change)
  const found = await Promise.all(rollout.hosts.map(({ nodeId }) => readHost(op, nodeId)))
  const isOld = (files: ConfigFiles | null) => describeDifference(rollout.from, files) === null
  const isNew = (files: ConfigFiles | null) => describeDifference(rollout.to, files) === null
  if (!found.every((files) => isOld(files) || isNew(files))) return
  if (found.some(isNew) || op.row.cancelRequestedAt !== null) await restore(op, rollout, null)
}

const readRollout = (op: OperationContext, change: ConfigChange): Promise<SlurmRollout> =>
  retryTransient(() => readSlurmRollout(op.ctx, { clusterId: op.cluster.id, ...change }))

const readHost = (op: OperationContext, nodeId: string): Promise<ConfigFiles | null> =>
  op.onNode(nodeId, (controller) => readConfigFiles(controller, configFolder(op.cluster)))

/** An earlier execution may have written the new files on some hosts. */
async function assertNoDrift(
  op: OperationContext,
  { hosts, from, to }: SlurmRollout,
  { from: number }: ConfigChange,
): Promise<void> {
  const changed: string[] = []
  for (const { nodeId, name } of hosts) {
    const files = await readHost(op, nodeId)
    const difference = describeDifference(from, files)
    if (difference === null || describeDifference(to, files) === null) continue
    changed.push(`${name}: ${difference}`)
    await op.updateNodes([{ name, phase: 'DIFFERS', isFailed: true, message: difference }])
  }
  if (changed.length > 0)
    throw new OperationFailure(
      `Files were changed without Muster since version ${number}. Nothing was written. Import them as a new version, or undo the change. ${changed.join('\n')}`,
    )
}

type Application = { files: ConfigFiles; isRestart: boolean; name: string }

/** One run: the role checks the files on all hosts before it changes the first one. @throws OperationFailure naming each host that failed */
async function apply(op: OperationContext, rollout: SlurmRollout, { files, isRestart, name }: Application): Promise<void> {
  const { hosts, controllers, slurmdNodes } = rollout
  const nodes = [...hosts, ...slurmdNodes.filter(({ nodeId }) => !hosts.some((host) => host.nodeId === nodeId))]
  const named = (list: ConfigHost[]) => list.map(({ name }) => name)
  const vars = {
    slurm_config_folder: configFolder(op.cluster),
    slurm_config_programs: op.cluster.programFolder ?? '',
    slurm_config_files: files,
    slurm_config_expected: expectedHashes([rollout.from, rollout.to]),
    slurm_config_hosts: named(hosts),
    slurm_config_controllers: named(controllers),
    slurm_config_restart: isRestart,
    slurm_config_daemons: named(slurmdNodes),
  }
  const finished = await op.startRun(
    TEMPLATE,
    nodes.map(({ nodeId }) => nodeId),
    vars,
    name,
  )
  if (finished.run.status !== 'SUCCEEDED') throw new OperationFailure(failureOf(finished, nodes))
}

function failureOf({ run, hosts }: FinishedRun, nodes: ConfigHost[]): string {
  const messages = nodes.flatMap(({ nodeId, name }) => {
    const message = hosts.get(nodeId)?.message
    return message ? [message.includes(name) ? message : `${name}: ${message}`] : []
  })
  return messages.join('\n') || `The job run ${run.number} ended with ${run.status}. Its log has the reason.`
}

/** @throws OperationFailure the cause, and what could not be restored */
async function restore(op: OperationContext, rollout: SlurmRollout, cause: OperationFailure | null): Promise<void> {
  try {
    await apply(op, rollout, { files: rollout.from, isRestart: true, name: 'restore' })
  } catch (error) {
    if (!(error instanceof OperationFailure) || error instanceof OperationCanceled) throw error
    throw new OperationFailure(
      [cause?.message, `The earlier files could not be restored: ${error.message}`].filter(Boolean).join(' '),
    )
  }
  if (cause) throw new OperationFailure(`${cause.message} The earlier files were restored on all hosts.`)
}

const NOT_WORKING = ['NOT_RESPONDING', 'INVALID_REG', 'DOWN']
type NodeStates = Map<string, boolean>

/** Whether each node works, and proof that the queue can be read. */
const readNodes = (op: OperationContext): Promise<NodeStates> =>
  op.slurm(async (controller) => {
    const { nodes } = await readCluster({ ...controller, onReport: () => {} }, false)
    return new Map(nodes.map(({ name, states }) => [name, !states.some((state) => NOT_WORKING.includes(state))]))
  })

/** Waits until the controller answers, and all nodes that worked before work. @throws OperationFailure */
async function waitForHealth(op: OperationContext, { plan }: SlurmRollout, before: NodeStates | null): Promise<void> {
  const deadline = performance.now() + HEALTH_TIMEOUT_MS
  for (;;) {
    op.signal.throwIfAborted()
    const problem = await healthProblem(op, plan.removedNodes, before)
    if (problem === null) return
    if (performance.now() > deadline) throw new OperationFailure(`Slurm does not work with the new files: ${problem}`)
    await setTimeout(HEALTH_EVERY_MS, null, { signal: op.signal }).catch(() => {})
  }
}

async function healthProblem(op: OperationContext, removed: string[], before: NodeStates | null): Promise<string | null> {
  let now: NodeStates
  try {
    now = await readNodes(op)
  } catch (error) {
    if (error instanceof OperationFailure || error instanceof QueryFailure || error instanceof SshFailure) return error.message
    throw error
  }
  const lost = [...(before ?? [])]
    .filter(([name, works]) => works && !removed.includes(name) && !now.get(name))
    .map(([name]) => name)
  return lost.length > 0 ? `${lost.slice(0, 10).join(', ')} ${lost.length === 1 ? 'does' : 'do'} not respond.` : null
}
