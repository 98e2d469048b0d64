import { slurmOperationMessages } from '@muster/core/clusters'
import type { ScaleInPlan } from '@muster/core/slurm-scaling'
import { nodeNames, parseConfig, removeNodes } from '@muster/slurm/config'
import { pollCluster, readClusterNodes } from '../cluster-state.ts'
import { removeSlurm } from '../install.ts'
import { type OperationContext, OperationFailure, type Step, type Workflow } from '../operation.ts'
import { assertSomeLeft } from '../readiness/check-nodes.ts'
import { restoreConfiguration, rolledOut, rollout, storeConfig } from '../rollout.ts'
import { assertNoTopologyYaml } from '../topology-yaml.ts'
import { drain, leaveGroup, left, nodeIdsOf, undrain } from './members.ts'

const planOf = ({ row }: OperationContext) => row.plan as ScaleInPlan

const drainNodes: Step = {
  name: 'drain',
  async run(op) {
    const { names } = planOf(op)
    await assertNoTopologyYaml(op, (await readClusterNodes(op)).version)
    await drain(op, names)
    await op.updateNodes(names.map((name) => ({ name, phase: 'DRAINING' })))
  },
}

/** At the deadline, nodes with jobs stay, and their drain ends. */
const waitForJobs: Step = {
  name: 'wait for jobs',
  async run(op) {
    const until = new Date(planOf(op).deadlineAt)
    const names = left(op).map(({ name }) => name)
    let busy = new Map<string, string>()
    await pollCluster(op, until, async ({ nodes, jobs }) => {
      busy = new Map(
        names.flatMap((name) => {
          const ids = jobs.get(name)
          if (ids) return [[name, `Jobs run on it: ${ids.slice(0, 5).join(', ')}.`]]
          return nodes.get(name)?.states.includes('COMPLETING') ? [[name, 'A job ends on it.']] : []
        }),
      )
      const done = names.filter((name) => !busy.has(name))
      const changed = [
        ...done.map((name) => ({ name, phase: 'DRAINED', message: null })),
        ...[...busy].map(([name, message]) => ({ name, message })),
      ].filter(({ name, message }) => {
        const node = op.nodes.find((one) => one.name === name)!
        return node.message !== message || (message === null && node.phase !== 'DRAINED')
      })
      if (changed.length > 0) await op.updateNodes(changed)
      return busy.size === 0 ? true : null
    })
    if (busy.size === 0) return
    await undrain(op, [...busy.keys()])
    await op.updateNodes(
      [...busy].map(([name, message]) => ({
        name,
        phase: 'UNDRAINED',
        isFailed: true,
        message: `The deadline has passed. ${message} It stays in the cluster.`,
      })),
    )
    assertSomeLeft(op)
  },
}

const configure: Step = {
  name: 'remove the nodes from the configuration',
  async run(op) {
    const names = left(op).map(({ name }) => name)
    const from = await rolledOut(op)
    const existing = new Set(nodeNames(parseConfig(from.files['slurm.conf'])))
    const listed = names.filter((name) => existing.has(name))
    const files = listed.length > 0 ? removeNodes(from.files, listed) : from.files
    await pollCluster(op, new Date(), async ({ jobs }) => {
      const busy = names.filter((name) => jobs.has(name))
      // A user may have ended the drain.
      if (busy.length > 0) throw new OperationFailure(slurmOperationMessages.jobsAgain({ nodes: busy.join(', ') }))
      return true
    })
    await rollout(op, from, await storeConfig(op, 'SCALED_IN', files))
    await op.updateNodes(names.map((name) => ({ name, phase: 'REMOVED' })))
  },
}

const cleanUp: Step = {
  name: 'remove Slurm from the nodes',
  async run(op) {
    const nodes = left(op).filter(({ phase }) => phase === 'REMOVED' || phase === 'CLEANED')
    const failed = await removeSlurm(op, nodeIdsOf(nodes), 'compute')
    await op.updateNodes(
      nodes.map(({ name, nodeId }) => {
        const message = nodeId ? failed.get(nodeId) : 'It is no node of the inventory, so Slurm stays on it.'
        return message
          ? { name, message: `Removed from the cluster. Slurm could not be removed from it: ${message}` }
          : { name, phase: 'CLEANED', message: null }
      }),
    )
    await leaveGroup(op, nodeIdsOf(nodes))
  },
}

export const SCALE_IN: Workflow = {
  steps: [drainNodes, waitForJobs, configure, cleanUp],
  undo: [
    restoreConfiguration,
    {
      name: 'undo',
      async run(op) {
        const { files } = await rolledOut(op)
        const configured = new Set(nodeNames(parseConfig(files['slurm.conf'])))
        const [kept, removed] = [
          op.nodes.filter(({ name }) => configured.has(name)),
          op.nodes.filter(({ name }) => !configured.has(name)),
        ]
        await undrain(
          op,
          kept.map(({ name }) => name),
        )
        await op.updateNodes(kept.map(({ name }) => ({ name, phase: 'UNDRAINED' })))
        // What left the configuration does not come back by itself: it is cleaned up.
        await removeSlurm(op, nodeIdsOf(removed), 'compute')
        await leaveGroup(op, nodeIdsOf(removed))
      },
    },
  ],
}
