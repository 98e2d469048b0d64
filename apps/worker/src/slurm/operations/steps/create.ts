import { slurmOperationMessages } from '@muster/core/clusters'
import type { SlurmConfigVersion } from '@muster/core/slurm-configs'
import type { CreatePlan } from '@muster/core/slurm-scaling'
import { parseVersion } from '@muster/slurm'
import { addAccountingCluster, listAccountingClusters } from '@muster/slurm/commands'
import { createConfig } from '@muster/slurm/config'
import { QueryFailure } from '../../run-query.ts'
import { asRoot, pollCluster, readClusterNodes, runAsRoot } from '../cluster-state.ts'
import { installSlurm, removeSlurm } from '../install.ts'
import { type OperationContext, OperationFailure, type Step, type Workflow } from '../operation.ts'
import { assertSomeLeft, checkHardware, checkNodes, checkReadiness } from '../readiness/check-nodes.ts'
import { forgetRollouts, recordRollout, storeConfig } from '../rollout.ts'
import {
  drain,
  joinGroup,
  leaveGroup,
  left,
  nodeIdsOf,
  preparePassword,
  recordHosts,
  removePassword,
  testNodes,
  waitForRegistration,
} from './members.ts'

/** A new slurmctld answers within seconds. */
const START_MS = 60_000

const planOf = ({ row }: OperationContext) => row.plan as CreatePlan
const controllerIds = (op: OperationContext) => planOf(op).controllers.map(({ nodeId }) => nodeId)
const loginIds = (op: OperationContext) => planOf(op).login.map(({ nodeId }) => nodeId)
/** The node with the database is often the controller. */
const databaseIds = (op: OperationContext) => {
  const { database } = planOf(op)
  return database ? [database.nodeId] : []
}
const allIds = (op: OperationContext, nodes: readonly { nodeId: string | null }[]) => [
  ...new Set([...controllerIds(op), ...loginIds(op), ...databaseIds(op), ...nodes.flatMap(({ nodeId }) => nodeId ?? [])]),
]
const addresses = (op: OperationContext) => planOf(op).controllers.map(({ address }) => address)

const check: Step = {
  name: 'check nodes',
  async run(op) {
    const plan = planOf(op)
    const named = [...plan.controllers.map(({ nodeId, name }) => ({ nodeId, name })), ...plan.login]
    const database = plan.database && !controllerIds(op).includes(plan.database.nodeId) ? [plan.database] : []
    const others = [...named, ...database]
    const bare = { sockets: 1, coresPerSocket: 1, threadsPerCore: 1, realMemoryMiB: 1, gres: [], features: [] }
    const found = await checkNodes(
      op,
      others.map((node) => ({ ...bare, ...node, address: node.name })),
      { controllers: [], release: null },
    )
    for (const { name } of others) {
      const failed = found.get(name)!.filter(({ state }) => state === 'FAILED')
      if (failed.length > 0)
        throw new OperationFailure(
          `${name} cannot be used. ${failed.map(({ name, message }) => `${name}: ${message}`).join('. ')}.`,
        )
    }
    await checkReadiness(op, plan.nodes, { controllers: [], release: null })
  },
}

const install: Step = {
  name: 'install Slurm',
  async run(op) {
    const nodes = left(op)
    await joinGroup(op, allIds(op, nodes))
    const { stateFolder } = planOf(op).settings
    await op.updateNodes(nodes.map(({ name }) => ({ name, phase: 'INSTALLING' })))
    assertNone(await installSlurm(op, controllerIds(op), { role: 'controller', start: false, stateFolder }))
    const failed = await installSlurm(op, nodeIdsOf(nodes), { role: 'compute', controllers: addresses(op), start: false })
    await recordHosts(op, nodes, failed, 'INSTALLED')
    await checkHardware(op, planOf(op).nodes, planOf(op).settings.extraLines.join('\n'))
  },
}

function assertNone(failed: Map<string, string>): void {
  const [reason] = failed.values()
  if (reason !== undefined) throw new OperationFailure(reason)
}

/** Without a configuration, slurmctld prints its version, and the commands print nothing. */
async function installedRelease(op: OperationContext): Promise<string> {
  const program = `${op.cluster.install?.prefix ?? '/usr'}/sbin/slurmctld`
  const output = await op.slurm(async ({ session, timeoutMs, signal }) => {
    const ran = await session.exec(`${program} -V`, { timeoutMs, signal })
    return ran.stdout.toString('utf8')
  })
  const release = parseVersion(output)
  if (release === null) throw new OperationFailure(`\`${program} -V\` prints no version of Slurm.`)
  return release
}

/** The configuration of the nodes that are left. */
async function createdConfig(op: OperationContext): Promise<SlurmConfigVersion> {
  const { settings, nodes } = planOf(op)
  const names = new Set(left(op).map(({ name }) => name))
  const used = nodes.filter(({ name }) => names.has(name))
  return storeConfig(op, 'CREATED', createConfig(settings, used, await installedRelease(op)), settings)
}

/** Before slurmctld starts: without its entry in the database it would not. */
const setUpAccounting: Step = {
  name: 'set up accounting',
  async run(op) {
    const { database, settings } = planOf(op)
    const { accountingHost, clusterName, stateFolder } = settings
    if (accountingHost === null) return op.report('Jobs are not recorded.')
    // sacctmgr reads the host of slurmdbd from slurm.conf.
    const config = (await createdConfig(op)).files
    assertNone(await installSlurm(op, controllerIds(op), { role: 'controller', start: false, config, stateFolder }))
    if (database) {
      await preparePassword(op, database.nodeId)
      assertNone(await installSlurm(op, [database.nodeId], { role: 'database', start: true }))
    }
    const isIn = (clusters: string) => clusters.split('\n').includes(clusterName)
    const isListed = async () => isIn(await runAsRoot(op, listAccountingClusters()))
    const isListedThere = async () => {
      try {
        return await isListed()
      } catch (error) {
        op.signal.throwIfAborted()
        if (!(error instanceof OperationFailure)) throw error
        throw new OperationFailure(
          `slurmdbd on ${accountingHost} does not answer, or does not accept the munge key of the cluster. Let it accept the key, for example through a second munged that AccountingStoragePass names, then create the cluster again. ${error.message}`,
        )
      }
    }
    if (!database && !(await isListedThere()))
      throw new OperationFailure(
        `slurmdbd on ${accountingHost} has no cluster ${clusterName}, and Muster does not write its database. Add it there with \`sacctmgr add cluster ${clusterName}\`, then create the cluster again.`,
      )
    await op.slurm(async (controller) => {
      if (!isIn(await asRoot(controller, listAccountingClusters()))) await asRoot(controller, addAccountingCluster(clusterName))
    })
    if (!(await isListed()))
      throw new OperationFailure(`slurmdbd on ${accountingHost} does not list the cluster ${clusterName} after it was added.`)
  },
}

const startController: Step = {
  name: 'start the controller',
  async run(op) {
    const { stateFolder } = planOf(op).settings
    const names = left(op).map(({ name }) => name)
    const version = await createdConfig(op)
    const config = version.files
    assertNone(await installSlurm(op, controllerIds(op), { role: 'controller', start: true, config, stateFolder }))
    assertNone(await installSlurm(op, loginIds(op), { role: 'login', start: true, config }))
    await recordRollout(op, version)
    await pollCluster(op, new Date(Date.now() + START_MS), async () => true)
    await drain(op, names)
    await op.updateNodes(names.map((name) => ({ name, phase: 'CONFIGURED' })))
  },
}

const start: Step = {
  name: 'start slurmd',
  async run(op) {
    const nodes = left(op)
    const failed = await installSlurm(op, nodeIdsOf(nodes), { role: 'compute', controllers: addresses(op), start: true })
    await recordHosts(op, nodes, failed, 'STARTED')
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

/** Users may run jobs as soon as the first nodes are in service. A controller that does not answer runs none. */
async function assertNoJobs(op: OperationContext): Promise<void> {
  const found = await readClusterNodes(op).catch((error: unknown) => {
    op.signal.throwIfAborted()
    if (error instanceof QueryFailure || error instanceof OperationFailure) return null
    throw error
  })
  const busy = [...(found?.jobs.keys() ?? [])]
  if (busy.length > 0) throw new OperationFailure(slurmOperationMessages.slurmStays({ nodes: busy.join(', ') }))
}

export const CREATE: Workflow = {
  steps: [check, install, setUpAccounting, startController, start, test],
  undo: [
    {
      name: 'undo',
      async run(op) {
        const nodes = op.nodes.filter(({ phase }) => !['WAITING', 'CHECKED'].includes(phase))
        if (!op.row.steps.some(({ name }) => name === install.name)) return
        await assertNoJobs(op)
        const { stateFolder } = planOf(op).settings
        const failed = new Map([
          ...(await removeSlurm(op, nodeIdsOf(nodes), 'compute')),
          ...(await removeSlurm(op, loginIds(op), 'login')),
          // First, because the controller may be the same node.
          ...(await removeSlurm(op, databaseIds(op), 'database')),
          ...(await removeSlurm(op, controllerIds(op), 'controller', stateFolder)),
        ])
        await leaveGroup(op, allIds(op, op.nodes))
        await forgetRollouts(op)
        const { database } = planOf(op)
        // A slurmdbd that could not be removed still uses it.
        if (database && !failed.has(database.nodeId)) await removePassword(op, database.nodeId)
        const known = [...planOf(op).controllers, ...planOf(op).login, ...planOf(op).nodes, ...(database ? [database] : [])]
        const left = known.filter(({ nodeId }) => failed.has(nodeId)).map(({ nodeId, name }) => `${name}: ${failed.get(nodeId)}`)
        if (database)
          await op.report(`MariaDB on ${database.name} stays, with the data of slurmdbd (slurm_acct_db) if there is any.`)
        if (left.length > 0) throw new OperationFailure(slurmOperationMessages.notRemoved({ nodes: left.join('; ') }))
      },
    },
  ],
}
