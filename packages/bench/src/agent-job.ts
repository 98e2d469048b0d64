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
import { ERROR, followRun, runJob } from './onboard.ts'

const BUILD = fileURLToPath(new URL('../../../apps/agent/packaging/build.ts', import.meta.url))
/** Seconds: between heartbeats, and of silence. Long enough for a machine that has much else to do. */
const HEARTBEAT_S = 2
const STALE_S = 10
const OFFLINE_S = 18

/** What the third part of the main job came to, as seen through the subscriptions; see `isRight`. */
export type AgentFigures = {
  /** Nodes whose agents were heard, and those that were ACTIVE when all had been deployed. */
  agents: number
  active: number
  /** Nodes that were ever seen so, and those that came back from OFFLINE. */
  stale: number
  offline: number
  recovered: number
  /** How often people were told something, of all nodes; without ANOMALY: on a busy machine an interval may well be unusual. */
  alerts: number
}

/** What agents of this lab say they are in; nothing else on the machine has the name. */
export const clusterOf = (lab: Lab): string => `lab-${lab.id}`

/**
 * Agents on all nodes by the template, each with a one-time token of its own; then one node is cut off until it is given up, and connected again.
 * What becomes of them is taken from the subscriptions alone.
 */
export async function agentJob(
  api: Client,
  lab: Lab,
  ids: Map<string, string>,
  apiPort: string,
  say: (text: string) => void,
): Promise<AgentFigures> {
  const set = (input: Record<string, number>) =>
    api.mutate(
      `mutation ($input: UpdateAgentSettingsInput!) { updateAgentSettings(input: $input) { __typename ... on AgentSettings { staleAfterSeconds } ${ERROR} } }`,
      { input },
    )
  await set({ heartbeatIntervalSeconds: HEARTBEAT_S })
  const watch = watchAgents(api)
  const door = await openDoor(lab, apiPort)
  try {
    await deploy(api, lab, ids, door.url)
    await watch.until('all agents to be ACTIVE', () => count(watch, (states) => states.at(-1) === 'ACTIVE') === ids.size)
    const active = count(watch, (states) => states.at(-1) === 'ACTIVE')
    say(`agents deployed, ${active} of ${ids.size} ACTIVE`)

    await set({ staleAfterSeconds: STALE_S, offlineAfterSeconds: OFFLINE_S })
    const victim = lab.nodes.find((node) => node.profile === 'cpu')!.name
    await lab.fault(victim, 'link-down')
    await watch.until(`${victim} to be given up`, () => watch.states.get(victim)?.at(-1) === 'OFFLINE')
    say(`${victim} cut off: ${watch.states.get(victim)!.join(', ')}`)
    await lab.heal(victim)
    await watch.until(`${victim} to be heard again`, () => {
      const told = [...watch.alerts.values()].filter((alert) => alert.node?.name === victim)
      const isTold = told.some(({ kind }) => kind === 'RECOVERED') && told.every(isOverOrEvent)
      return isTold && watch.states.get(victim)!.at(-1) === 'ACTIVE'
    })
    say(`connected again: ${watch.states.get(victim)!.join(', ')}; told: ${[...watch.alerts.values()].map(inWords).join(', ')}`)
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
    door.close()
  }
}

/** The API listens on this machine's own address alone; here nodes of the lab reach it, and nobody else. */
async function openDoor(lab: Lab, apiPort: string): Promise<{ url: string; close(): void }> {
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

export function isRight(figures: AgentFigures, lab: Lab): boolean {
  return (
    figures.agents === lab.nodes.length &&
    figures.active === lab.nodes.length &&
    figures.stale === 1 &&
    figures.offline === 1 &&
    figures.recovered === 1 &&
    // One that it is stale, one that it is offline, one that it is back.
    figures.alerts === 3
  )
}

const count = ({ states }: Watch, fits: (states: string[]) => boolean) => [...states.values()].filter(fits).length
const isOverOrEvent = ({ kind, resolvedAt }: Alert) => resolvedAt !== null || kind === 'RECOVERED'
const inWords = ({ kind, node, count }: Alert) => `${kind} of ${node?.name ?? 'all'}${count > 1 ? ` ${count} times` : ''}`

/** Build the agent and run the template on all nodes. @throws Error when it does not succeed on one */
async function deploy(api: Client, lab: Lab, ids: Map<string, string>, apiUrl: string): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'muster-agent-'))
  await promisify(execFile)(process.execPath, [BUILD, '--binary-only', '--out', folder])
  const server = await serveFolder(folder, lab.hostAddress)
  try {
    const hidden = lab.nodes.filter((node) => node.behindBastion)
    const open = lab.nodes.filter((node) => !node.behindBastion)
    await groupOf(api, ids, 'open', open, { api: apiUrl, files: server.url })
    if (hidden.length > 0) {
      const relayed = { api: await relayToRack(lab, apiUrl), files: await relayToRack(lab, server.url) }
      await groupOf(api, ids, 'behind_bastion', hidden, relayed)
    }
    for (const nodeId of ids.values()) await giveToken(api, nodeId)
    const [binary] = await readdir(folder)
    const checksum = createHash('sha256')
      .update(await readFile(join(folder, binary!)))
      .digest('hex')
    const extraVars = { muster_agent_cluster_id: clusterOf(lab), muster_agent_checksum: checksum }
    const id = await runJob(api, { template: 'deploy_muster_agent', limit: 'all', extraVars })
    let status = ''
    for await (const batch of followRun(api, id, 0)) status = batch.run.status
    if (status !== 'SUCCEEDED') throw new Error(`Deploying the agents ended as ${status}: ${await whyFailed(api, id)}`)
  } finally {
    await server.close()
    await rm(folder, { recursive: true, force: true })
  }
}

/** A group of these nodes that says where they reach the API and the binary. */
async function groupOf(
  api: Client,
  ids: Map<string, string>,
  name: string,
  nodes: LabNode[],
  at: { api: string; files: string },
) {
  const {
    nodeGroup: { id },
  } = await api.mutate<{ nodeGroup: { id: string } }>(
    `mutation ($name: String!) { createNodeGroup(input: { name: $name }) { __typename ... on CreateNodeGroupPayload { nodeGroup { id } } ${ERROR} } }`,
    { name },
  )
  await api.mutate(
    `mutation ($id: ID!, $add: [ID!]!) { setNodeGroupMembers(input: { id: $id, add: $add }) { __typename ... on SetNodeGroupMembersPayload { nodeGroup { id } } ${ERROR} } }`,
    { id, add: nodes.map((node) => ids.get(node.name)!) },
  )
  await api.mutate(
    `mutation ($input: SetVarsInput!) { setVars(input: $input) { __typename ... on SetVarsPayload { variableScope { version } } ${ERROR} } }`,
    { input: { groupId: id, basedOn: 0, text: `muster_agent_api_url: ${at.api}\nmuster_agent_url: ${at.files}\n` } },
  )
}

/** A token with which this node alone may enroll, as a secret variable of it. */
async function giveToken(api: Client, nodeId: string): Promise<void> {
  const { token } = await api.mutate<{ token: string }>(
    `mutation ($nodeId: ID!) { createAgentEnrollmentToken(nodeId: $nodeId) { __typename ... on CreatedAgentEnrollmentToken { token } ${ERROR} } }`,
    { nodeId },
  )
  await api.mutate(
    `mutation ($input: SetSecretVarInput!) { setSecretVar(input: $input) { __typename ... on SetSecretVarPayload { variableScope { version } } ${ERROR} } }`,
    { input: { nodeId, name: 'muster_agent_token', value: token } },
  )
}

async function whyFailed(api: Client, id: string): Promise<string> {
  type Hosts = { node: { hosts: { edges: { node: { name: string; result: string; message: string | null } }[] } } }
  const { node } = await api.request<Hosts>(
    'query ($id: ID!) { node(id: $id) { ... on JobRun { hosts(first: 100) { edges { node { name result message } } } } } }',
    { id },
  )
  return node.hosts.edges
    .flatMap(({ node: host }) => (host.message ? [`${host.name} ${host.result} ${host.message}`] : []))
    .join('; ')
}
