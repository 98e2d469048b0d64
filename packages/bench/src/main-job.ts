import { readdirSync, readFileSync } from 'node:fs'
import { type AcceleratorCounts, type Lab, machinesBlockedReason, startLab } from '@muster/lab'
import { pickPort } from '@muster/standalone'
import { accessJob, isExpected as isAccessExpected, startProvider } from './access-job.ts'
import { agentJob, clusterOf, isExpected as isAgentExpected } from './agent-job.ts'
import { type BootJobContext, bootJob, isExpected as isBootExpected } from './boot/boot-job.ts'
import { bootSettings, startBootMachines } from './boot/boot-product.ts'
import { type Client, connect } from './client.ts'
import { ACCELERATOR_TYPES, NODE_STATUSES } from './documents.ts'
import { isExpected as isLayeredExpected, layeredJob } from './layered-job.ts'
import { cancelRun, discover, followRun, onboard, readRun, runJob, signIn } from './onboard.ts'
import { type Product, startProduct } from './product.ts'
import { isExpected as isManagedExpected, MANAGED_NODES, managedJob } from './slurm/managed-job.ts'
import { isExpected as isSlurmExpected, slurmJob } from './slurm/slurm-job.ts'

const NODES = 8
const DEVICE_TYPES = ['nvidia_gpu', 'amd_gpu', 'intel_gpu', 'huawei_npu', 'thead_npu'] as const

/**
 * A complete scenario through the public API: sign in, create credentials, add eight nodes, approve their host keys, collect facts with
 * Ansible, follow the log across a lost connection, and cancel a second run during a task. Then layered variables and a deployment
 * (layered-job.ts), a running Slurm cluster (slurm/slurm-job.ts), agents (agent-job.ts), a cluster that Muster builds and scales
 * (slurm/managed-job.ts), machines that boot from the network (boot/boot-job.ts), and members, sign-in and the audit chain (access-job.ts). Prints progress to stderr and one JSON line of figures to stdout.
 */
const started = Date.now()
const print = (text: string) => process.stderr.write(`[${((Date.now() - started) / 1000).toFixed(1).padStart(5)} s] ${text}\n`)

/** Follows a run to its end and drops the connection once after `dropAfter` events. Counts gaps and repeated events. */
async function follow(api: Client, id: string, dropAfter: number) {
  const seen = { events: 0, gaps: 0, repeats: 0, last: 0, status: '' }
  let dropped = false
  while (true) {
    const connection = new AbortController()
    for await (const batch of followRun(api, id, seen.last, connection.signal)) {
      for (const { seq } of batch.events) {
        if (seq <= seen.last) seen.repeats++
        else if (seq > seen.last + 1) seen.gaps++
        seen.last = Math.max(seen.last, seq)
        seen.events++
      }
      seen.status = batch.run.status
      if (!dropped && seen.events >= dropAfter) {
        dropped = true
        connection.abort()
      }
    }
    if (!connection.signal.aborted) return { ...seen, dropped }
    print(`connection dropped intentionally after event ${seen.last}; reconnecting`)
  }
}

/** Starts a run on a node whose shell hangs and cancels it during a task. @returns its final status */
async function cancelMidTask(api: Client, lab: Lab): Promise<string> {
  const victim = lab.nodes.find((n) => n.profile === 'cpu')!
  await lab.fault(victim.name, 'slow-shell', { seconds: 60 })
  const id = await runJob(api, { template: 'collect_facts', limit: victim.name, reason: 'to be canceled' })
  for await (const batch of followRun(api, id, 0)) {
    if (!batch.events.some((e) => e.kind === 'TASK_START')) continue
    print('second run is executing a task; canceling it')
    await cancelRun(api, id)
  }
  const { status, interruptedHosts } = await readRun(api, id)
  if (interruptedHosts.hostlist !== victim.name)
    print(`${victim.name} is missing in the interrupted hosts ${interruptedHosts.hostlist || '(none)'}`)
  await lab.heal(victim.name)
  return status
}

async function countAccelerators(api: Client): Promise<AcceleratorCounts> {
  const { accelerators } = await api.request(ACCELERATOR_TYPES, {})
  const counts: AcceleratorCounts = {}
  for (const type of DEVICE_TYPES)
    counts[type] = accelerators.edges.filter((e) => e.node.deviceType.toLowerCase() === type).length
  return counts
}

/** Remaining processes with `mark` in their command line, their environment or the agent settings below their root. */
function processesOf(mark: string): string[] {
  const read = (path: string) => {
    try {
      return readFileSync(path, 'latin1')
    } catch {
      return ''
    }
  }
  return readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid) && pid !== String(process.pid))
    .filter((pid) =>
      ['cmdline', 'environ', 'root/etc/muster/agent.yaml'].some((file) => read(`/proc/${pid}/${file}`).includes(mark)),
    )
    .map((pid) => `${pid} ${read(`/proc/${pid}/cmdline`).replaceAll('\0', ' ')}`)
}

/** Ansible processes that still run on the nodes. */
async function remoteLeftovers(lab: Lab): Promise<string[]> {
  const perNode = await Promise.all(
    lab.nodes.map(async (node) =>
      (await node.exec(['ps', '-eo', 'args'])).stdout.split('\n').filter((line) => /ansible|AnsiballZ|muster_probe/i.test(line)),
    ),
  )
  return perNode.flat()
}

async function mainJob(
  product: Product,
  lab: Lab,
  provider: Awaited<ReturnType<typeof startProvider>>,
  machines: BootJobContext | null,
) {
  let token: string | null = null
  const api = connect(product.url, () => token)
  token = await signIn(api, product.linkToken)
  print('signed in')
  const ids = await onboard(api, lab)
  print(`${ids.size} nodes onboarded, host keys approved`)
  const discoveries = await discover(api, [...ids.values()])
  print(`discovery: ${discoveries.filter((d) => d.status === 'SUCCEEDED').length} of ${discoveries.length} nodes`)

  const run = await follow(api, await runJob(api, { template: 'collect_facts', limit: 'all' }), 5)
  print(`collect_facts ${run.status} with ${run.events} events${run.dropped ? '' : ', but the connection was never dropped'}`)
  const canceled = await cancelMidTask(api, lab)
  print(`second run ${canceled}`)

  const layered = await layeredJob(api, lab, ids, print)
  // Before a node is disconnected: Slurm would keep it DOWN.
  const slurm = await slurmJob(api, lab, ids, print)
  const agents = await agentJob(api, lab, ids, new URL(product.url).port, print)
  const managed = await managedJob(api, print)
  const boot = machines ? await bootJob(api, machines, print) : null
  const access = await accessJob(api, product.url, provider, print)
  const { nodes } = await api.request(NODE_STATUSES, {})
  return {
    nodes: nodes.totalCount,
    ready: nodes.edges.filter((e) => e.node.status === 'READY').length,
    accelerators: await countAccelerators(api),
    run: run.status,
    events: run.events,
    gaps: run.gaps,
    repeats: run.repeats,
    canceled,
    ...layered,
    ...agents,
    ...slurm,
    ...managed,
    boot,
    ...access,
    reconnected: run.dropped,
  }
}

function expectedAccelerators(lab: Lab): AcceleratorCounts {
  const counts: AcceleratorCounts = {}
  for (const type of DEVICE_TYPES) counts[type] = lab.nodes.reduce((sum, n) => sum + (n.accelerators[type] ?? 0), 0)
  return counts
}

print('starting Postgres, API, worker and the lab')
const PORT = String(await pickPort())
const provider = await startProvider(`http://127.0.0.1:${PORT}`)
const lab = await startLab({ nodes: NODES, slurm: true })
const [product, machines] = await Promise.all([
  startProduct({ JOB_CANCEL_GRACE_PERIOD: '5', PORT, ...provider.settings, ...(await bootSettings(lab)) }),
  machinesBlockedReason() ? null : startBootMachines(lab),
])
if (!machines) print(`no machines boot from the network: ${machinesBlockedReason()}`)
print(`${lab.nodes.length} nodes are up, ${lab.nodes.filter((n) => n.behindBastion).length} behind the bastion`)
const expected = expectedAccelerators(lab)
let figures: Awaited<ReturnType<typeof mainJob>>
let leftovers: string[] = []
try {
  figures = await mainJob(product, lab, provider, machines)
  leftovers = await remoteLeftovers(lab)
} finally {
  await product.stop()
  await machines?.bmc.close()
  await machines?.machines.down()
  await lab.down()
  await provider.close()
}
for (const mark of [product.dir, lab.dir, clusterOf(lab)]) leftovers.push(...processesOf(mark))
for (const line of leftovers) print(`process left: ${line}`)

const { reconnected, ...rest } = figures
const isExpected =
  // And the controller of the Slurm cluster, the nodes of the managed one, and the machines.
  rest.nodes === NODES + 1 + MANAGED_NODES.length + (machines?.machines.machines.length ?? 0) &&
  rest.ready === rest.nodes &&
  JSON.stringify(rest.accelerators) === JSON.stringify(expected) &&
  rest.run === 'SUCCEEDED' &&
  rest.events > NODES &&
  rest.gaps === 0 &&
  rest.repeats === 0 &&
  rest.canceled === 'CANCELED' &&
  isLayeredExpected(rest, lab) &&
  isAgentExpected(rest, lab) &&
  isSlurmExpected(rest, lab) &&
  isManagedExpected(rest) &&
  (!rest.boot || isBootExpected(rest.boot)) &&
  isAccessExpected(rest) &&
  reconnected &&
  leftovers.length === 0
if (!isExpected) print(`unexpected figures; expected accelerators: ${JSON.stringify(expected)}`)
process.stdout.write(
  `${JSON.stringify({ ...rest, orphans: leftovers.length, seconds: Math.round((Date.now() - started) / 100) / 10 })}\n`,
)
process.exitCode = isExpected ? 0 : 1
