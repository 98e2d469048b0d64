import { execFile } from 'node:child_process'
import { createHash } from 'node:crypto'
import { mkdtempSync } from 'node:fs'
import { readdir, readFile, rm } from 'node:fs/promises'
import { type AddressInfo, createConnection, createServer, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { pipeline } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { type Lab, type LabNode, relayToRack, serveFolder } from '@muster/lab'
import { type Alert, type Watch, watchAgents } from './agent-watch.ts'
import type { Client } from './client.ts'
import {
  CREATE_ENROLLMENT_TOKEN,
  CREATE_NODE_GROUP,
  RUN_HOSTS,
  SET_NODE_GROUP_MEMBERS,
  SET_SECRET_VAR,
  SET_VARS,
  UPDATE_AGENT_SETTINGS,
} from './documents.ts'
import type { VariablesOf } from './graphql.ts'
import { followRun, runJob } from './onboard.ts'

const BUILD = fileURLToPath(new URL('../../../apps/agent/packaging/build.ts', import.meta.url))
/** In seconds; long enough for a busy machine. */
const HEARTBEAT_S = 2
const STALE_S = 10
const OFFLINE_S = 18

/** Figures of the third part of the main job, taken from the subscriptions; see `isExpected`. */
export type AgentFigures = {
  /** Agents that sent heartbeats, and agents that were ACTIVE after the deployment. */
  agents: number
  active: number
  /** Agents that were ever STALE, ever OFFLINE, and ACTIVE again after OFFLINE. */
  stale: number
  offline: number
  recovered: number
  /** Alerts of all nodes, repetitions included, without ANOMALY: on a busy machine intervals vary. */
  alerts: number
}

/** Cluster ID of this lab's agents; unique on the machine. */
export const clusterOf = (lab: Lab): string => `lab-${lab.id}`

/**
 * Deploys agents to all nodes with the template and one enrollment token per node. Then disconnects one node until it is OFFLINE, and
 * reconnects it. All results come from subscriptions.
 */
export async function agentJob(
  api: Client,
  lab: Lab,
  ids: Map<string, string>,
  apiPort: string,
  print: (text: string) => void,
): Promise<AgentFigures> {
  const set = (input: VariablesOf<typeof UPDATE_AGENT_SETTINGS>['input']) => api.mutate(UPDATE_AGENT_SETTINGS, { input })
  await set({ heartbeatIntervalSeconds: HEARTBEAT_S })
  const watch = watchAgents(api)
  const proxy = await startProxy(lab, apiPort)
  try {
    await deploy(api, lab, ids, proxy.url)
    await watch.until('all agents are ACTIVE', () => count(watch, (states) => states.at(-1) === 'ACTIVE') === ids.size)
    const active = count(watch, (states) => states.at(-1) === 'ACTIVE')
    print(`agents deployed, ${active} of ${ids.size} ACTIVE`)

    await set({ staleAfterSeconds: STALE_S, offlineAfterSeconds: OFFLINE_S })
    const victim = lab.nodes.find((node) => node.profile === 'cpu')!.name
    await lab.fault(victim, 'link-down')
    await watch.until(`${victim} is OFFLINE`, () => watch.states.get(victim)?.at(-1) === 'OFFLINE')
    print(`${victim} disconnected: ${watch.states.get(victim)!.join(', ')}`)
    await lab.heal(victim)
    await watch.until(`${victim} is ACTIVE again and its alerts are resolved`, () => {
      const alerts = [...watch.alerts.values()].filter((alert) => alert.node?.name === victim)
      const isReported = alerts.some(({ kind }) => kind === 'RECOVERED') && alerts.every(isResolvedOrEvent)
      return isReported && watch.states.get(victim)!.at(-1) === 'ACTIVE'
    })
    print(
      `${victim} reconnected: ${watch.states.get(victim)!.join(', ')}; alerts: ${[...watch.alerts.values()].map(describeAlert).join(', ')}`,
    )
    return {
      agents: watch.states.size,
      active,
      stale: count(watch, (states) => states.includes('STALE')),
      offline: count(watch, (states) => states.includes('OFFLINE')),
      recovered: count(watch, (states) => states.includes('OFFLINE') && states.at(-1) === 'ACTIVE'),
      alerts: [...watch.alerts.values()].reduce((sum, { kind, count }) => (kind === 'ANOMALY' ? sum : sum + count), 0),
    }
  } finally {
    await watch.stop()
    proxy.close()
  }
}

/** The API listens on loopback only; this TCP proxy makes it reachable for the lab's nodes. */
async function startProxy(lab: Lab, apiPort: string): Promise<{ url: string; close(): void }> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    const api = createConnection(Number(apiPort), '127.0.0.1')
    for (const end of [socket, api]) sockets.add(end.on('close', () => sockets.delete(end)))
    pipeline(socket, api, socket, () => {})
  })
  await new Promise<void>((resolve, reject) => server.once('error', reject).listen(0, lab.hostAddress, resolve))
  return {
    url: `http://${lab.hostAddress}:${(server.address() as AddressInfo).port}`,
    close() {
      server.close()
      for (const socket of sockets) socket.destroy()
    },
  }
}

export function isExpected(figures: AgentFigures, lab: Lab): boolean {
  return (
    figures.agents === lab.nodes.length &&
    figures.active === lab.nodes.length &&
    figures.stale === 1 &&
    figures.offline === 1 &&
    figures.recovered === 1 &&
    // STALE, OFFLINE, RECOVERED
    figures.alerts === 3
  )
}

const count = ({ states }: Watch, fits: (states: string[]) => boolean) => [...states.values()].filter(fits).length
/** Alerts without a lasting cause: they resolve five minutes after the last repetition. A busy machine causes ANOMALY. */
const EVENTS = ['RECOVERED', 'ANOMALY']
const isResolvedOrEvent = ({ kind, resolvedAt }: Alert) => resolvedAt !== null || EVENTS.includes(kind)
const describeAlert = ({ kind, node, count }: Alert) => `${kind} ${node?.name ?? 'all nodes'}${count > 1 ? ` x ${count}` : ''}`

/** Builds the agent and runs the template on all nodes. @throws Error when the run does not succeed */
async function deploy(api: Client, lab: Lab, ids: Map<string, string>, apiUrl: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'muster-agent-'))
  await promisify(execFile)(process.execPath, [BUILD, '--binary-only', '--out', folder])
  const server = await serveFolder(folder, lab.hostAddress)
  try {
    const hidden = lab.nodes.filter((node) => node.behindBastion)
    const open = lab.nodes.filter((node) => !node.behindBastion)
    await createGroup(api, ids, 'open', open, { api: apiUrl, files: server.url })
    if (hidden.length > 0) {
      const relayed = { api: await relayToRack(lab, apiUrl), files: await relayToRack(lab, server.url) }
      await createGroup(api, ids, 'behind_bastion', hidden, relayed)
    }
    for (const nodeId of ids.values()) await createToken(api, nodeId)
    const [binary] = await readdir(folder)
    const checksum = createHash('sha256')
      .update(await readFile(join(folder, binary!)))
      .digest('hex')
    const extraVars = { muster_agent_cluster_id: clusterOf(lab), muster_agent_checksum: checksum }
    const id = await runJob(api, { template: 'deploy_muster_agent', limit: 'all', extraVars })
    let status = ''
    for await (const batch of followRun(api, id, 0)) status = batch.run.status
    if (status !== 'SUCCEEDED')
      throw new Error(`The deployment of the agents ended with ${status}: ${await failureMessages(api, id)}`)
  } finally {
    await server.close()
    await rm(folder, { recursive: true, force: true })
  }
}

/** Creates a group of these nodes whose variables contain the URLs of the API and of the binary. */
async function createGroup(
  api: Client,
  ids: Map<string, string>,
  name: string,
  nodes: LabNode[],
  urls: { api: string; files: string },
) {
  const { nodeGroup } = await api.mutate(CREATE_NODE_GROUP, { input: { name } })
  await api.mutate(SET_NODE_GROUP_MEMBERS, { input: { id: nodeGroup.id, addNodeIds: nodes.map((node) => ids.get(node.name)!) } })
  const text = `muster_agent_api_url: ${urls.api}\nmuster_agent_url: ${urls.files}\n`
  await api.mutate(SET_VARS, { input: { groupId: nodeGroup.id, basedOn: 0, text } })
}

/** Creates an enrollment token for this node and stores it as a secret variable of the node. */
async function createToken(api: Client, nodeId: string): Promise<void> {
  const { token } = await api.mutate(CREATE_ENROLLMENT_TOKEN, { nodeId })
  await api.mutate(SET_SECRET_VAR, { input: { nodeId, name: 'muster_agent_token', value: token } })
}

/** The hosts of a run that have a message, with result and message. */
export async function failureMessages(api: Client, id: string): Promise<string> {
  const { node } = await api.request(RUN_HOSTS, { id })
  if (node?.__typename !== 'JobRun') throw new Error(`There is no run ${id}`)
  return node.hosts.edges
    .flatMap(({ node: { name, result, message } }) => (message ? [`${name} ${result} ${message}`] : []))
    .join('; ')
}
