import { readdirSync, readFileSync } from 'node:fs'
import { type AcceleratorCounts, type Lab, startLab } from '@muster/lab'
import { agentJob, clusterOf, isRight as isAgentRight } from './agent-job.ts'
import { type Client, connect } from './client.ts'
import { isRight as isLayeredRight, layeredJob } from './layered-job.ts'
import { cancelRun, discover, followRun, onboard, runJob, signIn } from './onboard.ts'
import { type Product, startProduct } from './product.ts'

const NODES = 8
const DEVICE_TYPES = ['nvidia_gpu', 'amd_gpu', 'intel_gpu', 'huawei_npu', 'thead_npu'] as const

/**
 * The main job from nothing, through the public API only: sign in, give credentials, add eight real nodes, approve
 * their host keys, collect facts with Ansible, follow the log over a lost connection, cancel a second run in the middle of
 * a task. Then variables in layers and a deployment that follows them (layered-job.ts), and agents that tell of their nodes
 * (agent-job.ts). Prints progress on stderr and one JSON line of figures on stdout.
 */
const started = Date.now()
const say = (text: string) => process.stderr.write(`[${((Date.now() - started) / 1000).toFixed(1).padStart(5)} s] ${text}\n`)

/** Follow to the end; `dropAfter` cuts the connection once after that many events. Counts what a follower must never see. */
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
    say(`connection dropped on purpose after event ${seen.last}; following again`)
  }
}

/** Start a run on a node whose shell hangs, wait until it is in the middle of a task, cancel it. @returns how it ended */
async function cancelMidTask(api: Client, lab: Lab): Promise<string> {
  const victim = lab.nodes.find((n) => n.profile === 'cpu')!
  await lab.fault(victim.name, 'slow-shell', { seconds: 60 })
  const id = await runJob(api, { template: 'collect_facts', limit: victim.name, reason: 'to be canceled' })
  for await (const batch of followRun(api, id, 0)) {
    if (!batch.events.some((e) => e.kind === 'task_start')) continue
    say('second run is in the middle of a task; canceling it')
    await cancelRun(api, id)
  }
  const { node } = await api.request<{ node: { status: string; interruptedHosts: string[] } }>(
    `query ($id: ID!) { node(id: $id) { ... on JobRun { status interruptedHosts } } }`,
    { id },
  )
  if (!node.interruptedHosts.includes(victim.name))
    say(`expected ${victim.name} among the hosts in mid-task, got ${JSON.stringify(node.interruptedHosts)}`)
  await lab.heal(victim.name)
  return node.status
}

async function countAccelerators(api: Client): Promise<AcceleratorCounts> {
  const { accelerators } = await api.request<{ accelerators: { edges: { node: { deviceType: string; health: string } }[] } }>(
    `{ accelerators(first: 500) { edges { node { deviceType health } } } }`,
  )
  const counts: AcceleratorCounts = {}
  for (const type of DEVICE_TYPES)
    counts[type] = accelerators.edges.filter((e) => e.node.deviceType.toLowerCase() === type).length
  return counts
}

/** Processes that name `mark` in command line or environment, or whose root has an agent that does: what was left behind. */
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

/** What a canceled run left on its nodes: commands of Ansible that still go on. */
async function remoteLeftovers(lab: Lab): Promise<string[]> {
  const perNode = await Promise.all(
    lab.nodes.map(async (node) =>
      (await node.exec(['ps', '-eo', 'args'])).stdout.split('\n').filter((line) => /ansible|AnsiballZ|muster_probe/i.test(line)),
    ),
  )
  return perNode.flat()
}

async function mainJob(product: Product, lab: Lab) {
  let token: string | null = null
  const api = connect(product.url, () => token)
  token = await signIn(api, product.linkToken)
  say('signed in')
  const ids = await onboard(api, lab)
  say(`${ids.size} nodes onboarded, host keys approved`)
  const swept = await discover(api, [...ids.values()])
  say(`discovery: ${swept.filter((d) => d.status === 'SUCCEEDED').length} of ${swept.length} nodes`)

  const run = await follow(api, await runJob(api, { template: 'collect_facts', limit: 'all' }), 5)
  say(`collect_facts ${run.status} with ${run.events} events${run.dropped ? '' : ', but the connection was never dropped'}`)
  const canceled = await cancelMidTask(api, lab)
  say(`second run ${canceled}`)

  const layered = await layeredJob(api, lab, ids, say)
  const agents = await agentJob(api, lab, ids, new URL(product.url).port, say)
  const { nodes } = await api.request<{ nodes: { totalCount: number; edges: { node: { status: string } }[] } }>(
    `{ nodes(first: 500) { totalCount edges { node { status } } } }`,
  )
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
    reconnected: run.dropped,
  }
}

function expectedAccelerators(lab: Lab): AcceleratorCounts {
  const counts: AcceleratorCounts = {}
  for (const type of DEVICE_TYPES) counts[type] = lab.nodes.reduce((sum, n) => sum + (n.accelerators[type] ?? 0), 0)
  return counts
}

say('starting Postgres, API, worker and the lab')
const [product, lab] = await Promise.all([startProduct({ JOB_CANCEL_GRACE_PERIOD: '5' }), startLab({ nodes: NODES })])
say(`${lab.nodes.length} nodes are up, ${lab.nodes.filter((n) => n.behindBastion).length} behind the bastion`)
const expected = expectedAccelerators(lab)
let figures: Awaited<ReturnType<typeof mainJob>>
let leftovers: string[] = []
try {
  figures = await mainJob(product, lab)
  leftovers = await remoteLeftovers(lab)
} finally {
  await product.stop()
  await lab.down()
}
for (const mark of [product.dir, lab.dir, clusterOf(lab)]) leftovers.push(...processesOf(mark))
for (const line of leftovers) say(`left behind: ${line}`)

const { reconnected, ...rest } = figures
const isRight =
  rest.nodes === NODES &&
  rest.ready === NODES &&
  JSON.stringify(rest.accelerators) === JSON.stringify(expected) &&
  rest.run === 'SUCCEEDED' &&
  rest.events > NODES &&
  rest.gaps === 0 &&
  rest.repeats === 0 &&
  rest.canceled === 'CANCELED' &&
  isLayeredRight(rest, lab) &&
  isAgentRight(rest, lab) &&
  reconnected &&
  leftovers.length === 0
if (!isRight) say(`not right; accelerators should be ${JSON.stringify(expected)}`)
process.stdout.write(
  `${JSON.stringify({ ...rest, orphans: leftovers.length, seconds: Math.round((Date.now() - started) / 100) / 10 })}\n`,
)
process.exitCode = isRight ? 0 : 1
