import { setTimeout } from 'node:timers/promises'
import { slurmOperationMessages } from '@muster/core/clusters'
import { retryTransient } from '@muster/core/retry-transient'
import {
  CONFIG_FILES,
  type ConfigFiles,
  type ConfigHost,
  controllersIn,
  readSlurmRollout,
  recordSlurmConfigRollout,
  type SlurmRollout,
} from '@muster/core/slurm-configs'
import { renewSlurmOperation, type SlurmRolloutProgress } from '@muster/core/slurm-operations'
import pLimit from 'p-limit'
import { SshFailure } from '../../ssh/ssh-failure.ts'
import { readCluster } from '../read-cluster.ts'
import { QueryFailure } from '../run-query.ts'
import { configFolder, describeDifference, expectedHashes, readConfigFiles } from './config-files.ts'
import { type FinishedRun, OperationCanceled, type OperationContext, OperationFailure, OperationTakenOver } from './operation.ts'
import { drainRemovedNodes } from './removed-nodes.ts'
import { validateConfig } from './trial-start.ts'

const TEMPLATE = 'slurm_configure'
const HEALTH_TIMEOUT_MS = 90_000
const HEALTH_EVERY_MS = 1000
/** Hosts whose files are read at the same time. */
const CONCURRENT_READS = 16

/** Numbers of the version that the hosts have, and of the one that they get. `isRollback`: it restores what they had before. */
export type ConfigChange = { from: number; to: number; isRollback?: boolean }

/**
 * Writes a version of the configuration on all hosts of the cluster, makes Slurm read it, and checks that Slurm works. A failure
 * restores the version before. Continues where an earlier execution stopped.
 * @throws OperationFailure hosts have other files, or Slurm does not accept or survive the new ones
 */
export async function rolloutConfig(op: OperationContext, change: ConfigChange): Promise<void> {
  const rollout = await readRollout(op, change)
  await op.report(`Compare the files of ${rollout.hosts.length} hosts with version ${change.from}.`)
  const newHosts = await findNewHosts(op, rollout, change)
  // A trial never prevents the return to an earlier state.
  const isAdvisory = (change.isRollback ?? false) || op.row.error !== null
  if (rollout.progress === null)
    await validateConfig(op, rollout.controllers[0]!, { number: change.to, files: rollout.to }, isAdvisory)
  const progress = rollout.progress ?? (await start(op, rollout, change, newHosts))
  try {
    if (progress.failure !== null) throw new OperationFailure(progress.failure)
    await drainRemovedNodes(op, rollout.plan.removedNodes)
    const silent = rollout.plan.nodes.filter((name) => !progress.workingNodes.includes(name))
    await op.report(
      `Write version ${change.to} on ${rollout.hosts.length} hosts.${silent.length > 0 ? ` slurmd of ${silent.slice(0, 5).join(', ')}${silent.length > 5 ? ` and ${silent.length - 5} more` : ''} does not run, and is not restarted.` : ''}`,
    )
    await apply(op, rollout, progress, {
      files: rollout.to,
      isRestart: rollout.plan.controllers === 'RESTART',
      isRestore: false,
    })
    await op.report('Check that Slurm works.')
    await waitForHealth(op, rollout, progress)
    await assertWritten(op, rollout, change)
  } catch (error) {
    if (!(error instanceof OperationFailure) || error instanceof OperationCanceled || op.signal.aborted) throw error
    if (progress.failure === null) {
      const found = await readHosts(op, rollout, progress)
      // Hosts refused the files before the first one was changed.
      if (found.every((host) => host.isUnchanged)) throw error
      // Another worker must not take the restored hosts for hosts with the new files.
      await record(op, { ...progress, failure: error.message })
    }
    await op.report(`Restore version ${change.from}.`)
    await restore(op, rollout, progress, error)
  }
  await retryTransient(() => recordSlurmConfigRollout(op.ctx, { clusterId: op.cluster.id, number: change.to }))
}

/**
 * Restores the version before on hosts that a canceled rollout has changed, or that do not answer. A rollout that failed has restored it
 * already, and one that found other files has written nothing.
 */
export async function undoRollout(op: OperationContext, change: ConfigChange): Promise<void> {
  const rollout = await readRollout(op, change)
  // No file was written.
  if (rollout.progress === null) return
  const found = await readHosts(op, rollout, rollout.progress)
  const isChanged = found.some(({ files, isUnchanged }) => !isUnchanged && (files === null || isKnown(rollout, files)))
  if (isChanged || op.row.cancelRequestedAt !== null) await restore(op, rollout, rollout.progress, null)
}

const readRollout = (op: OperationContext, change: ConfigChange): Promise<SlurmRollout> =>
  retryTransient(() => readSlurmRollout(op.ctx, { operationId: op.row.id, clusterId: op.cluster.id, ...change }))

/** Stores the hosts, and which nodes work: a later execution finds those that the new files broke. @throws OperationFailure */
async function start(
  op: OperationContext,
  { hosts, controllers, unknownNodes }: SlurmRollout,
  { from, to }: ConfigChange,
  newHosts: string[],
): Promise<SlurmRolloutProgress> {
  const { working: workingNodes } = await readNodes(op).catch((error) => {
    op.signal.throwIfAborted()
    if (!isSilence(error)) throw error
    throw new OperationFailure(
      `Slurm does not answer, so that the new files could not be checked. Nothing was written. Start slurmctld, then try again. ${error.message}`,
    )
  })
  const unknown = unknownNodes.filter((name) => workingNodes.includes(name))
  if (unknown.length > 0)
    throw new OperationFailure(
      `slurmd of ${unknown.slice(0, 5).join(', ')} must restart, but the inventory does not have these nodes. Add them, or match them.`,
    )
  return record(op, { from, to, hosts, controllers, newHosts, workingNodes, failure: null })
}

async function record(op: OperationContext, rollout: SlurmRolloutProgress): Promise<SlurmRolloutProgress> {
  const claim = { id: op.row.id, token: op.row.claimToken! }
  if (!(await retryTransient(() => renewSlurmOperation(op.ctx, { ...claim, rollout })))) throw new OperationTakenOver()
  return rollout
}

const readHost = (op: OperationContext, nodeId: string): Promise<ConfigFiles | null> =>
  op.onNode(nodeId, (controller) => readConfigFiles(controller, configFolder(op.cluster)))

type Found = {
  /** Null where they are missing or cannot be read. */
  files: ConfigFiles | null
  /** Whether the host is as it was before the rollout. */
  isUnchanged: boolean
}

const readHosts = (op: OperationContext, { hosts, from }: SlurmRollout, { newHosts }: SlurmRolloutProgress): Promise<Found[]> =>
  pLimit(CONCURRENT_READS).map(hosts, async ({ nodeId }) => {
    try {
      const files = await readHost(op, nodeId)
      return { files, isUnchanged: files === null ? newHosts.includes(nodeId) : isVersion(from, files) }
    } catch (error) {
      if (!(error instanceof OperationFailure) || op.signal.aborted) throw error
      return { files: null, isUnchanged: false }
    }
  })

const isVersion = (version: ConfigFiles, files: ConfigFiles): boolean => describeDifference(version, files) === null

/** An earlier execution may have written some of the new files. */
const isKnown = ({ from, to }: SlurmRollout, files: ConfigFiles): boolean =>
  CONFIG_FILES.every((name) => files[name] === from[name] || files[name] === to[name])

/**
 * Compares the files of the hosts with the version that they should have.
 * @returns IDs of the controllers that the new version adds and that have no files yet
 * @throws OperationFailure a host has other files
 */
async function findNewHosts(op: OperationContext, rollout: SlurmRollout, { from: number }: ConfigChange): Promise<string[]> {
  const newHosts: string[] = []
  const found = await pLimit(CONCURRENT_READS).map(rollout.hosts, async ({ nodeId, name }) => {
    const files = await readHost(op, nodeId)
    const added = rollout.progress?.newHosts ?? rollout.onlyAfter.map((host) => host.nodeId)
    const isNew = files === null && added.includes(nodeId)
    if (isNew) newHosts.push(nodeId)
    const difference = isNew ? null : describeDifference(rollout.from, files)
    return difference === null || (files !== null && isKnown(rollout, files)) ? [] : [{ name, difference }]
  })
  const changed = found.flat()
  if (changed.length === 0) return newHosts
  await op.updateNodes(changed.map(({ name, difference }) => ({ name, phase: 'DIFFERS', isFailed: true, message: difference })))
  throw new OperationFailure(
    `Files were changed without Muster since version ${number}. Nothing was written. Import them as a new version, or undo the change. ${changed.map(({ name, difference }) => `${name}: ${difference}`).join('\n')}`,
  )
}

/** @throws OperationFailure a host has other files, or cannot be read */
async function assertWritten(op: OperationContext, { hosts, to }: SlurmRollout, change: ConfigChange): Promise<void> {
  const found = await pLimit(CONCURRENT_READS).map(hosts, async ({ nodeId, name }) => {
    const files = await readHost(op, nodeId)
    return files !== null && isVersion(to, files) ? [] : [name]
  })
  const names = found.flat()
  if (names.length > 0)
    throw new OperationFailure(
      `${names.slice(0, 10).join(', ')} ${names.length === 1 ? 'does' : 'do'} not have version ${change.to}.`,
    )
}

type Application = { files: ConfigFiles; isRestart: boolean; isRestore: boolean }

/**
 * One run: the role checks the files on all hosts before it changes the first one. A host that fails ends the run for all, unless they
 * are restored.
 * @throws OperationFailure naming each host that failed
 */
async function apply(
  op: OperationContext,
  rollout: SlurmRollout,
  { workingNodes, newHosts }: SlurmRolloutProgress,
  { files, isRestart, isRestore }: Application,
): Promise<void> {
  const { hosts } = rollout
  const stopped = isRestore ? rollout.onlyAfter : rollout.onlyBefore
  // The primary of the written files restarts first: a backup waits for it. Controllers that they do not name keep their place before.
  const order = controllersIn(files).map(({ name }) => name)
  const controllers = rollout.controllers
    .filter(({ nodeId }) => !stopped.some((host) => host.nodeId === nodeId))
    .sort((a, b) => order.indexOf(a.controller ?? '') - order.indexOf(b.controller ?? ''))
  const slurmdNodes = [...rollout.slurmdNodes].flatMap(([name, node]) => (workingNodes.includes(name) ? [node] : []))
  const nodes = [...hosts, ...slurmdNodes.filter(({ nodeId }) => !hosts.some((host) => host.nodeId === nodeId))]
  const named = (list: ConfigHost[]) => list.map(({ name }) => name)
  const vars = {
    slurm_config_folder: configFolder(op.cluster),
    slurm_config_programs: op.cluster.programFolder ?? '',
    slurm_config_files: files,
    slurm_config_expected: expectedHashes([rollout.from, rollout.to]),
    slurm_config_hosts: named(hosts),
    slurm_config_new: named(hosts.filter(({ nodeId }) => newHosts.includes(nodeId))),
    slurm_config_controllers: named(controllers),
    slurm_config_stopped: named(stopped),
    slurm_config_restart: isRestart,
    slurm_config_restore: isRestore,
    slurm_config_daemons: named(slurmdNodes),
  }
  const finished = await op.startRun(
    TEMPLATE,
    nodes.map(({ nodeId }) => nodeId),
    vars,
    isRestore ? 'restore' : 'rollout',
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
async function restore(
  op: OperationContext,
  rollout: SlurmRollout,
  progress: SlurmRolloutProgress,
  cause: OperationFailure | null,
): Promise<void> {
  try {
    await apply(op, rollout, progress, { files: rollout.from, isRestart: true, isRestore: true })
  } catch (error) {
    if (!(error instanceof OperationFailure) || error instanceof OperationCanceled) throw error
    throw new OperationFailure(
      [cause?.message, `The earlier files could not be restored on all hosts: ${error.message}`].filter(Boolean).join(' '),
    )
  }
  if (cause) throw new OperationFailure(`${cause.message} The earlier files were restored on all hosts.`)
}

const NOT_WORKING = ['NOT_RESPONDING', 'INVALID_REG', 'DOWN']
/** States of nodes that slurmctld has suspended or is resuming: their slurmd reads the files when it starts. */
const SUSPENDED = ['POWERED_DOWN', 'POWERING_DOWN', 'POWERING_UP', 'POWER_DOWN']

/** Nodes that work and those that Slurm has suspended, by name, and proof that the queue can be read. */
const readNodes = (op: OperationContext): Promise<{ working: string[]; suspended: string[] }> =>
  op.slurm(async (controller) => {
    const { nodes } = await readCluster({ ...controller, onReport: () => {} }, false)
    const having = (words: string[]) => nodes.filter(({ states }) => states.some((state) => words.includes(state)))
    const [failing, suspended] = [having(NOT_WORKING), having(SUSPENDED)]
    const working = nodes.filter((node) => !failing.includes(node) && !suspended.includes(node))
    return { working: working.map(({ name }) => name), suspended: suspended.map(({ name }) => name) }
  })

const isSilence = (error: unknown): error is OperationFailure | QueryFailure | SshFailure =>
  error instanceof OperationFailure || error instanceof QueryFailure || error instanceof SshFailure

/** Waits until the controller answers, and all nodes that worked before work. @throws OperationFailure */
async function waitForHealth(
  op: OperationContext,
  { plan: { removedNodes } }: SlurmRollout,
  { workingNodes }: SlurmRolloutProgress,
): Promise<void> {
  const expected = workingNodes.filter((name) => !removedNodes.includes(name))
  const deadline = performance.now() + HEALTH_TIMEOUT_MS
  for (;;) {
    op.signal.throwIfAborted()
    const problem = await healthProblem(op, expected)
    if (problem === null) return
    if (performance.now() > deadline) throw new OperationFailure(slurmOperationMessages.unhealthy({ problem }))
    await setTimeout(HEALTH_EVERY_MS, null, { signal: op.signal }).catch(() => {})
  }
}

async function healthProblem(op: OperationContext, expected: string[]): Promise<string | null> {
  let now: Set<string>
  try {
    const { working, suspended } = await readNodes(op)
    // A node may become idle long enough during the rollout.
    now = new Set([...working, ...suspended])
  } catch (error) {
    if (isSilence(error)) return error.message
    throw error
  }
  const lost = expected.filter((name) => !now.has(name))
  return lost.length > 0 ? `${lost.slice(0, 10).join(', ')} ${lost.length === 1 ? 'does' : 'do'} not respond.` : null
}
