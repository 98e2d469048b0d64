import { isDeepStrictEqual } from 'node:util'
import {
  describeMachines,
  type Lab,
  type LabMachines,
  MACHINE_CREDENTIALS,
  type Machine,
  type MachineBmc,
  type Machines,
  machineManifests,
} from '@muster/lab'
import type { Client } from '../client.ts'
import {
  ACCEPT_UNKNOWN_MACHINE,
  APPLY_MANIFESTS,
  APPROVE_HOST_KEYS,
  BOOT_DHCP_CONFIG,
  BOOT_OF_NODE,
  CREATE_CREDENTIAL,
  PLAN_MANIFESTS,
  POWER_RUN_UPDATED,
  START_POWER_RUN,
  UNKNOWN_MACHINES,
  UPDATE_NODE,
} from '../documents.ts'
import type { ResultOf } from '../graphql.ts'
import { testConnections } from '../onboard.ts'

const PROFILE = 'lab-machine'
const WAIT_MS = 240_000
const POLL_MS = 200

export type BootJobContext = LabMachines & { lab: Lab }

/** Figures of the boots; see `isExpected`. */
export type BootFigures = {
  /** Fields that the plan of the first and of the changed manifest shows. */
  planned: string[]
  replanned: string[]
  /** Stages of the first boot of the known and of the accepted machine, and of the boot after the change. */
  stages: string[]
  unknownStages: string[]
  restartedStages: string[]
  /** What the known machine fetched: kind and version of the profile, in their order. */
  fetched: string[]
  refetched: string[]
  /** Parameter of the changed profile in the kernel's command line after the restart. */
  parameter: string
}

type NodeBoot = ResultOf<typeof BOOT_OF_NODE>['nodes']['edges'][number]['node']

/**
 * Boots two machines from the network until they are READY: one that a manifest describes, switched on through its BMC, and one that
 * nobody knows, which is accepted. Then changes the boot profile and restarts the first one.
 */
export async function bootJob(api: Client, context: BootJobContext, print: (text: string) => void): Promise<BootFigures> {
  const { lab, machines, bmc } = context
  const [known, unknown] = machines.machines as [Machine, Machine]
  const credentialId = await createCredentials(api, lab, bmc)
  const first = manifestOf(context, known, ['console=ttyS0', 'lab.version=1'])
  const planned = await plan(api, first)
  print(`plan: ${planned.join(', ')}`)
  await apply(api, first)
  await serveDhcp(api, machines)

  await power(api, (await nodeOf(api, known.name)).id, 'ON')
  unknown.on()
  print('both machines are on')
  await accept(api, machines, unknown, credentialId, print)
  const [boot, unknownBoot] = [await becomeReady(api, known, null, print), await becomeReady(api, unknown, null, print)]

  const second = manifestOf(context, known, ['console=ttyS0', 'lab.version=2'])
  const replanned = await plan(api, second)
  print(`plan: ${replanned.join(', ')}`)
  await apply(api, second)
  await power(api, (await nodeOf(api, known.name)).id, 'RESTART')
  const restarted = await becomeReady(api, known, boot.id, print)
  const [parameter = ''] = /lab\.version=\d/.exec(known.console()) ?? []
  return {
    planned,
    replanned,
    stages: stagesOf(boot),
    unknownStages: stagesOf(unknownBoot),
    restartedStages: stagesOf(restarted),
    fetched: fetchesOf(boot),
    refetched: fetchesOf(restarted),
    parameter,
  }
}

/** Without KERNEL and DISCOVERED: a discovery that ends after READY is no stage of the boot. */
const STAGES = ['POWER_ON', 'BOOT_SCRIPT', 'CLOUD_INIT', 'PHONE_HOME', 'FIRST_CONTACT', 'READY']
const fetchesWith = (version: number) =>
  ['BOOT_SCRIPT', 'META_DATA', 'USER_DATA with token', 'VENDOR_DATA'].map((kind) => `${kind} of ${PROFILE} v${version}`).sort()

/** What the figures must be; stages in alphabetical order. */
export const EXPECTED: BootFigures = {
  planned: ['CREATE ComputeNode machine-01', 'CREATE BootProfile lab-machine'],
  replanned: ['UPDATE BootProfile lab-machine kernelParams'],
  stages: [...STAGES].sort(),
  unknownStages: STAGES.filter((stage) => stage !== 'POWER_ON').sort(),
  restartedStages: [...STAGES].sort(),
  fetched: [...fetchesWith(1), 'PHONE_HOME'],
  refetched: [...fetchesWith(2), 'PHONE_HOME'],
  parameter: 'lab.version=2',
}

export const isExpected = (figures: BootFigures): boolean => isDeepStrictEqual(figures, EXPECTED)

/** @returns ID of the SSH key */
async function createCredentials(api: Client, lab: Lab, bmc: MachineBmc): Promise<string> {
  const { username, privateKey } = lab.credentials.sshKey
  const { username: bmcUser, password } = bmc
  const bmcLogin = {
    name: MACHINE_CREDENTIALS.bmc,
    kind: 'BMC' as const,
    username: bmcUser,
    password,
    allowedHosts: [lab.hostAddress],
  }
  await api.mutate(CREATE_CREDENTIAL, { input: bmcLogin })
  return (
    await api.mutate(CREATE_CREDENTIAL, { input: { name: MACHINE_CREDENTIALS.key, kind: 'SSH_KEY', username, privateKey } })
  ).credential.id
}

type Manifests = { files: { name: string; text: string }[] }

/** The profile, and the node of a machine with its BMC. */
function manifestOf(context: BootJobContext, machine: Machine, kernelParams: string[]): Manifests {
  const { lab } = context
  const described = describeMachines(lab, context)
  const machines = described.machines.filter(({ name }) => name === machine.name)
  const profile = { kernelParams, assignments: [{ allNodes: true }] }
  const all = machineManifests(described, machines, lab.credentials.sshKey, profile)
  return { files: [{ name: 'machines.yaml', text: all.map((each) => JSON.stringify(each)).join('\n---\n') }] }
}

async function plan(api: Client, input: Manifests): Promise<string[]> {
  const { planManifests: result } = await api.request(PLAN_MANIFESTS, { input })
  if (result.__typename !== 'ManifestPlan' || result.issues.length > 0) throw new Error(`No plan: ${JSON.stringify(result)}`)
  return result.changes.map(({ action, kind, names, fields }) =>
    [action, kind, names, ...(action === 'UPDATE' ? fields.map(({ path }) => path) : [])].join(' '),
  )
}

async function apply(api: Client, input: Manifests): Promise<void> {
  const { plan } = await api.mutate(APPLY_MANIFESTS, { input })
  if (!plan.isApplied) throw new Error(`Nothing was applied: ${JSON.stringify(plan.issues)}`)
}

/** Runs dnsmasq with the configuration that Muster generates: the nodes in the inventory now have fixed addresses. */
async function serveDhcp(api: Client, { network, serveDhcp }: Machines): Promise<void> {
  const { bootDhcpConfig } = await api.request(BOOT_DHCP_CONFIG, { input: { server: 'DNSMASQ', ...network } })
  await serveDhcp(bootDhcpConfig)
}

async function power(api: Client, nodeId: string, action: 'ON' | 'RESTART'): Promise<void> {
  const { powerRun } = await api.mutate(START_POWER_RUN, {
    input: { action, nodeIds: [nodeId], reason: 'boot job', delaySeconds: 0 },
  })
  let last: ResultOf<typeof POWER_RUN_UPDATED>['powerRunUpdated'] | null = null
  for await (const { powerRunUpdated } of api.subscribe(POWER_RUN_UPDATED, { id: powerRun.id })) last = powerRunUpdated
  if (last?.status !== 'SUCCEEDED') throw new Error(`${action} ended with ${JSON.stringify(last)}`)
}

/** Accepts a machine as a node with its fixed address, when it has asked for a boot script. */
async function accept(
  api: Client,
  machines: Machines,
  machine: Machine,
  credentialId: string,
  print: (text: string) => void,
): Promise<void> {
  const found = await until(`${machine.mac} to ask for a boot script`, async () => {
    const { unknownMachines } = await api.request(UNKNOWN_MACHINES, {})
    return unknownMachines.edges.find(({ node }) => node.mac === machine.mac)?.node ?? null
  })
  if (found.serial !== machine.serial || found.systemUuid?.toLowerCase() !== machine.uuid)
    throw new Error(`The unknown machine reports ${found.serial} and ${found.systemUuid}`)
  print(`unknown machine ${found.mac}: ${found.arch}, serial number ${found.serial}`)
  const { unknownMachine } = await api.mutate(ACCEPT_UNKNOWN_MACHINE, {
    input: { id: found.id, name: machine.name, host: machine.address },
  })
  const interfaces = [{ name: 'eth0', mac: machine.mac, isBoot: true, addresses: [{ address: machine.address }] }]
  await api.mutate(UPDATE_NODE, { input: { id: unknownMachine.node!.id, credentialId, interfaces } })
  await serveDhcp(api, machines)
}

/**
 * Waits until a machine has reported its boot, compares the offered host key with the one on its console and approves it, and tests the
 * connection. Then the node is discovered and READY.
 * @param after ID of the boot before
 */
async function becomeReady(
  api: Client,
  machine: Machine,
  after: string | null,
  print: (text: string) => void,
): Promise<NodeBoot['bootAttempts']['edges'][number]['node']> {
  const bootOf = async () => {
    const node = await nodeOf(api, machine.name)
    const boot = node.bootAttempts.edges[0]?.node
    return boot && boot.id !== after ? { node, boot } : null
  }
  const consoleOf = () => machine.console().slice(-2000)
  const { node } = await until(
    `the phone-home of ${machine.name}`,
    async () => {
      const found = await bootOf()
      return found?.boot.timeline.some(({ stage }) => stage === 'PHONE_HOME') ? found : null
    },
    consoleOf,
  )
  const shown = await until(
    `sshd of ${machine.name}`,
    () => /host key (SHA256:\S+)/.exec(machine.console())?.[1] ?? null,
    consoleOf,
  )
  const offered = node.hostKeyAlarm?.offeredFingerprint ?? node.hostKeyFingerprint
  if (offered !== shown) throw new Error(`${machine.name} offers ${offered}; its console shows ${shown}`)
  if (node.hostKeyAlarm) await api.mutate(APPROVE_HOST_KEYS, { input: { approvals: [{ id: node.id, fingerprint: offered! }] } })
  const [test] = await testConnections(api, [node.id])
  if (!test?.isOk) throw new Error(`The connection test of ${machine.name} failed: ${JSON.stringify(test)}`)
  const { boot } = await until(`${machine.name} to become READY`, async () => {
    const found = await bootOf()
    return found?.boot.state === 'READY' ? found : null
  })
  print(`${machine.name} is READY: ${boot.timeline.map(({ stage, durationMs }) => `${stage} ${durationMs ?? 0} ms`).join(', ')}`)
  for (const { kind, hash, count, profile, profileVersion } of boot.fetches)
    print(`  ${kind} ${hash.slice(0, 12)} ${count}x ${profile ? `${profile} v${profileVersion}` : ''}`)
  return boot
}

async function nodeOf(api: Client, name: string): Promise<NodeBoot> {
  const { nodes } = await api.request(BOOT_OF_NODE, { name })
  const node = nodes.edges[0]?.node
  if (!node) throw new Error(`There is no node ${name}`)
  return node
}

const stagesOf = ({ timeline }: { timeline: { stage: string }[] }) =>
  timeline
    .map(({ stage }) => stage)
    .filter((stage) => STAGES.includes(stage))
    .sort()
const fetchesOf = ({ fetches }: NodeBoot['bootAttempts']['edges'][number]['node']) =>
  fetches
    .map(({ kind, profile, profileVersion, hasToken }) =>
      profile ? `${kind}${hasToken ? ' with token' : ''} of ${profile} v${profileVersion}` : kind,
    )
    .sort((a, b) => Number(a === 'PHONE_HOME') - Number(b === 'PHONE_HOME') || (a < b ? -1 : 1))

/** Polls until `check` returns something. @throws Error after four minutes, with what `explain` returns */
async function until<T>(what: string, check: () => Promise<T | null> | T | null, explain = () => ''): Promise<T> {
  const deadline = Date.now() + WAIT_MS
  while (Date.now() < deadline) {
    const result = await check()
    if (result !== null) return result
    await new Promise((resolve) => setTimeout(resolve, POLL_MS))
  }
  throw new Error(`Timed out waiting for ${what}. ${explain()}`)
}
