import { slurmOperationMessages } from '@muster/core/clusters'
import { excludeWithoutBmc } from '@muster/core/slurm-power'
import type { ScaleOutPlan } from '@muster/core/slurm-scaling'
import { addNodes, nodeNames, parseConfig, removeNodes } from '@muster/slurm/config'
import { readClusterNodes } from '../cluster-state.ts'
import { installSlurm, removeSlurm } from '../install.ts'
import type { OperationContext, Step, Workflow } from '../operation.ts'
import { assertSomeLeft, checkHardware, checkReadiness, checkTarget, controllersOf } from '../readiness/check-nodes.ts'
import { restoreConfiguration, rolledOut, rollout, storeConfig } from '../rollout.ts'
import { drain, joinGroup, leaveGroup, left, nodeIdsOf, recordHosts, testNodes, waitForRegistration } from './members.ts'

const planOf = ({ row }: OperationContext) => row.plan as ScaleOutPlan

const check: Step = {
  name: 'check nodes',
  async run(op) {
    await checkReadiness(op, planOf(op).nodes, await checkTarget(op))
  },
}

const install: Step = {
  name: 'install Slurm',
  async run(op) {
    const nodes = left(op)
    await joinGroup(op, nodeIdsOf(nodes))
    const controllers = (await controllersOf(op)).map(({ address }) => address)
    await op.updateNodes(nodes.map(({ name }) => ({ name, phase: 'INSTALLING' })))
    const failed = await installSlurm(op, nodeIdsOf(nodes), { role: 'compute', controllers, start: false })
    await recordHosts(op, nodes, failed, 'INSTALLED')
    await checkHardware(op, planOf(op).nodes, (await rolledOut(op)).files['slurm.conf'])
  },
}

const configure: Step = {
  name: 'add the nodes to the configuration',
  async run(op) {
    const names = left(op).map(({ name }) => name)
    const nodes = planOf(op).nodes.filter(({ name }) => names.includes(name))
    const from = await rolledOut(op)
    const existing = new Set(nodeNames(parseConfig(from.files['slurm.conf'])))
    const missing = nodes.filter(({ name }) => !existing.has(name))
    const files =
      missing.length > 0
        ? await excludeWithoutBmc(op.ctx.db, op.ctx, op.cluster.id, addNodes(from.files, missing, planOf(op).partitions), missing)
        : from.files
    await rollout(op, from, await storeConfig(op, 'SCALED_OUT', files))
    await drain(op, names)
    await op.updateNodes(names.map((name) => ({ name, phase: 'CONFIGURED' })))
  },
}

const start: Step = {
  name: 'start slurmd',
  async run(op) {
    const nodes = left(op)
    const controllers = (await controllersOf(op)).map(({ address }) => address)
    const failed = await installSlurm(op, nodeIdsOf(nodes), { role: 'compute', controllers, start: true })
    await recordHosts(op, nodes, failed, 'STARTED')
  },
}

const register: Step = {
  name: 'wait for the registration',
  async run(op) {
    await waitForRegistration(op)
    assertSomeLeft(op)
  },
}

const test: Step = {
  name: 'run a test job on each node',
  async run(op) {
    await testNodes(op)
    assertSomeLeft(op)
  },
}

/** Nodes that failed leave the configuration again, so that they are as before. */
const removeFailed: Step = {
  name: 'remove failed nodes',
  run: (op) =>
    takeOut(
      op,
      op.nodes.filter(({ isFailed }) => isFailed).map(({ name }) => name),
    ),
}

/** Removes nodes from the configuration and Slurm from them. Nodes with jobs stay. */
async function takeOut(op: OperationContext, names: string[]): Promise<void> {
  const current = await rolledOut(op)
  const configured = new Set(nodeNames(parseConfig(current.files['slurm.conf'])))
  const listed = names.filter((name) => configured.has(name))
  let leaving = names
  if (listed.length > 0) {
    await drain(op, listed)
    const { jobs } = await readClusterNodes(op)
    const busy = listed.filter((name) => jobs.has(name))
    const message = slurmOperationMessages.staysDrained()
    await op.updateNodes(busy.map((name) => ({ name, isFailed: true, message })))
    const free = listed.filter((name) => !jobs.has(name))
    if (free.length > 0) await rollout(op, current, await storeConfig(op, 'SCALED_IN', removeNodes(current.files, free)))
    leaving = names.filter((name) => !busy.includes(name))
  }
  const nodes = op.nodes.filter(({ name, phase }) => leaving.includes(name) && !['WAITING', 'CHECKED'].includes(phase))
  const failed = await removeSlurm(op, nodeIdsOf(nodes), 'compute')
  await op.updateNodes(
    nodes.flatMap(({ name, nodeId, message }) => {
      const reason = failed.get(nodeId ?? '')
      return reason === undefined
        ? []
        : { name, message: `${message ?? ''} Slurm could not be removed from it: ${reason}`.trim() }
    }),
  )
  await leaveGroup(op, nodeIdsOf(op.nodes.filter(({ name }) => leaving.includes(name))))
}

export const SCALE_OUT: Workflow = {
  steps: [check, install, configure, start, register, test, removeFailed],
  undo: [
    restoreConfiguration,
    {
      name: 'undo',
      async run(op) {
        await takeOut(
          op,
          op.nodes.filter(({ phase }) => phase !== 'IN_SERVICE').map(({ name }) => name),
        )
      },
    },
  ],
}
