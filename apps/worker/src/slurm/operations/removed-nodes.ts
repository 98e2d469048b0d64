import { actionArguments } from '@muster/slurm/commands'
import { pollCluster, readClusterNodes, runAsRoot } from './cluster-state.ts'
import { type OperationContext, OperationFailure } from './operation.ts'

/** slurmctld answers again some seconds after a restart. */
const RESTART_MS = 30_000

/** The reason of the drains below. */
const drainReason = ({ row }: OperationContext): string => `Muster removes the node (operation ${row.id})`

/**
 * Drains nodes that the next configuration does not have: Slurm loses the jobs of a node that disappears. Nodes that are drained already
 * keep their reason.
 * @throws OperationFailure jobs run on some of them
 */
export async function drainRemovedNodes(op: OperationContext, names: readonly string[]): Promise<void> {
  if (names.length === 0) return
  const before = await readClusterNodes(op)
  const open = names.filter((name) => before.nodes.has(name) && !before.nodes.get(name)!.states.includes('DRAIN'))
  if (open.length > 0) await runAsRoot(op, actionArguments({ verb: 'DRAIN_NODES', reason: drainReason(op) }, open))
  const { nodes, jobs } = await readClusterNodes(op)
  const problems = names.flatMap((name) => {
    const ids = jobs.get(name)
    const states = nodes.get(name)?.states
    if (ids) return [`Jobs run on ${name}: ${ids.slice(0, 5).join(', ')}.`]
    // A test job that failed may end on a new node for minutes; Slurm loses no user's job there.
    if (states?.includes('COMPLETING') && op.row.kind !== 'SCALE_OUT') return [`A job ends on ${name}.`]
    return states && !states.includes('DRAIN') ? [`${name} is not drained.`] : []
  })
  if (problems.length > 0)
    throw new OperationFailure(
      `The configuration removes nodes that are in use. ${problems.slice(0, 10).join(' ')} Drain them and wait for their jobs, then try again.`,
    )
}

/** Ends the drains of this operation. */
export async function undrainRemovedNodes(op: OperationContext): Promise<void> {
  await pollCluster(op, new Date(Date.now() + RESTART_MS), async ({ nodes }) => {
    const own = [...nodes.values()].filter(({ states, reason }) => states.includes('DRAIN') && reason === drainReason(op))
    const names = own.map(({ name }) => name)
    if (names.length > 0) await runAsRoot(op, actionArguments({ verb: 'UNDRAIN_NODES' }, names))
    return true
  })
}
