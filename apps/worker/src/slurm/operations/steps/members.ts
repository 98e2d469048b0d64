import { setTimeout } from 'node:timers/promises'
import { retryTransient } from '@muster/core/retry-transient'
import type { SlurmOperationNode } from '@muster/core/slurm-operations'
import {
  leaveClusterGroup,
  prepareClusterGroup,
  prepareDatabasePassword,
  removeDatabasePassword,
} from '@muster/core/slurm-scaling'
import { actionArguments, createReservation, deleteReservation, testJob } from '@muster/slurm/commands'
import { asRoot, pollCluster, readClusterNodes, runAsRoot } from '../cluster-state.ts'
import type { FailedHosts } from '../install.ts'
import { type OperationContext, OperationFailure } from '../operation.ts'
import { assertSomeLeft } from '../readiness/check-nodes.ts'

/** New nodes register within seconds after slurmd starts. */
const REGISTER_MS = 120_000
const TEST_JOB_MS = 90_000
const RESERVATION_POLL_MS = 2000
/** Of a node for its test job. */
const RESERVED_MINUTES = 5

export const left = ({ nodes }: OperationContext): SlurmOperationNode[] => nodes.filter(({ isFailed }) => !isFailed)
export const nodeIdsOf = (nodes: readonly SlurmOperationNode[]): string[] => nodes.flatMap(({ nodeId }) => nodeId ?? [])

/** The reason of drains that an operation sets. It ends only drains with it. */
export const drainReason = ({ row: { id, kind } }: OperationContext): string =>
  `Muster ${kind === 'SCALE_IN' ? 'removes' : 'adds'} the node (operation ${id})`

/** Puts nodes, and the controllers, in the group that has the munge key. */
export const joinGroup = (op: OperationContext, nodeIds: string[]): Promise<string> =>
  retryTransient(() => prepareClusterGroup(op.ctx, { clusterId: op.cluster.id, nodeIds }))

export const preparePassword = (op: OperationContext, nodeId: string): Promise<void> =>
  retryTransient(() => prepareDatabasePassword(op.ctx, { nodeId }))

export const removePassword = (op: OperationContext, nodeId: string): Promise<void> =>
  retryTransient(() => removeDatabasePassword(op.ctx, { nodeId }))

export const leaveGroup = (op: OperationContext, nodeIds: string[]): Promise<void> =>
  retryTransient(() => leaveClusterGroup(op.ctx, { clusterId: op.cluster.id, nodeIds }))

/** Stores the result of a job run at each of its nodes. @throws OperationFailure none is left */
export async function recordHosts(
  op: OperationContext,
  nodes: SlurmOperationNode[],
  failed: FailedHosts,
  phase: string,
): Promise<void> {
  await op.updateNodes(
    nodes.map(({ name, nodeId }) => {
      const message = failed.get(nodeId ?? '')
      return message === undefined ? { name, phase } : { name, isFailed: true, message }
    }),
  )
  assertSomeLeft(op)
}

/** Drains nodes unless they are drained, so that no job of a user starts there. */
export async function drain(op: OperationContext, names: string[]): Promise<void> {
  const { nodes } = await readClusterNodes(op)
  const open = names.filter((name) => nodes.has(name) && !nodes.get(name)!.states.includes('DRAIN'))
  if (open.length > 0) await runAsRoot(op, actionArguments({ verb: 'DRAIN_NODES', reason: drainReason(op) }, open))
}

/** Ends the drains of this operation. */
export async function undrain(op: OperationContext, names: string[]): Promise<void> {
  const { nodes } = await readClusterNodes(op)
  const own = names.filter((name) => {
    const node = nodes.get(name)
    return node?.states.includes('DRAIN') && node.reason === drainReason(op)
  })
  if (own.length > 0) await runAsRoot(op, actionArguments({ verb: 'UNDRAIN_NODES' }, own))
}

const isRegistered = (states: readonly string[]) =>
  !['UNKNOWN', 'DOWN', 'FUTURE'].includes(states[0] ?? '') &&
  !states.some((state) => ['NOT_RESPONDING', 'INVALID_REG'].includes(state))

/** Waits until nodes have registered; those that do not are failed. */
export async function waitForRegistration(op: OperationContext): Promise<void> {
  const names = left(op).map(({ name }) => name)
  const until = new Date(Date.now() + REGISTER_MS)
  let last = new Map<string, string>()
  await pollCluster(op, until, async ({ nodes }) => {
    last = new Map(
      names
        .map((name) => [name, nodes.get(name)] as const)
        .filter(([, node]) => !node || !isRegistered(node.states))
        .map(([name, node]) => [
          name,
          node
            ? `The controller shows ${node.states.join('+')}${node.reason && node.reason !== drainReason(op) ? `: ${node.reason}` : ''}. Look at the log of slurmd on the node.`
            : 'The controller does not list the node.',
        ]),
    )
    return last.size === 0 ? true : null
  })
  await op.updateNodes(
    names.map((name) => (last.has(name) ? { name, isFailed: true, message: last.get(name) } : { name, phase: 'REGISTERED' })),
  )
}

/** Runs a job on each node, in a reservation, so that no job of a user starts there before. A node whose job fails stays drained. */
export async function testNodes(op: OperationContext): Promise<void> {
  for (const { name, phase } of left(op)) {
    if (phase === 'IN_SERVICE') continue
    const { nodes } = await readClusterNodes(op)
    const reservation = `muster_test_${name}`
    await drain(op, [name])
    const reserved = {
      durationMinutes: RESERVED_MINUTES,
      nodes: [name],
      users: ['root'],
      flags: ['MAINT', 'IGNORE_JOBS'] as const,
    }
    await replaceReservation(op, reservation, reserved)
    try {
      await undrain(op, [name])
      await runAsRoot(op, testJob(name, nodes.get(name)?.partitions[0] ?? null, reservation), TEST_JOB_MS)
      await op.updateNodes([{ name, phase: 'IN_SERVICE', message: null }])
    } catch (error) {
      if (!(error instanceof OperationFailure)) throw error
      op.signal.throwIfAborted()
      await drain(op, [name])
      await op.updateNodes([{ name, isFailed: true, message: `The test job failed. ${error.message}` }])
    }
    await runAsRoot(op, deleteReservation(reservation)).catch(ignoreFailure)
  }
}

/**
 * Creates a reservation. A killed worker, or a lost connection, may have left one with this name, which Slurm keeps while a job runs in it.
 * @throws OperationFailure Slurm refuses it, or still has the other one after the time limit of its job
 */
async function replaceReservation(
  op: OperationContext,
  name: string,
  reserved: Parameters<typeof createReservation>[1],
): Promise<void> {
  for (const until = Date.now() + TEST_JOB_MS; ; ) {
    try {
      return await op.slurm(async (controller) => {
        await asRoot(controller, deleteReservation(name)).catch(ignoreFailure)
        await asRoot(controller, createReservation(name, reserved))
      })
    } catch (error) {
      const isLeft = error instanceof OperationFailure && /duplicate reservation/i.test(error.message)
      if (!isLeft || Date.now() > until) throw error
      await setTimeout(RESERVATION_POLL_MS, null, { signal: op.signal }).catch(() => {})
      op.signal.throwIfAborted()
    }
  }
}

/** The reservation does not exist, or ends by itself. */
function ignoreFailure(error: unknown): void {
  if (!(error instanceof OperationFailure)) throw error
}
