import { rmSync } from 'node:fs'
import path from 'node:path'
import type { Backend } from './backend.ts'
import { capture, requirePrograms } from './commands.ts'
import { readIdentity, saveIdentity } from './identity.ts'
import { loopback } from './loopback/backend.ts'
import { startOnLoopback } from './loopback/start.ts'
import { namespaces } from './namespaces/backend.ts'
import { hostAddress } from './namespaces/network.ts'
import { startInNamespaces } from './namespaces/start.ts'
import { planNodes } from './plan.ts'
import { profileOf } from './profiles.ts'
import { ensureLabsDir, identify, killProcess, type LabState, saveState } from './registry.ts'
import { openSlurm } from './slurm/cluster.ts'
import { planSlurm } from './slurm/plan.ts'
import { requireSlurm } from './slurm/programs.ts'
import { removeOrphanedLabs, tearDown } from './tear-down.ts'
import type { FaultName, Lab, LabMode, LabNode, LabOptions } from './types.ts'

const backends: Record<LabMode, Backend> = { namespaces, loopback }

/** A lab owned by this process. `ended` resolves when the lab's processes have exited for any reason. */
export interface OwnedLab extends Lab {
  ended: Promise<void>
}

/**
 * Starts a lab and resolves when every node's sshd listens. The calling process owns it: the lab's processes end when the owner
 * calls `down`, exits or is killed. The next use of any lab removes leftovers of killed owners.
 */
export async function startLab(options: LabOptions = {}): Promise<OwnedLab> {
  const plan = planNodes(options)
  const slurm = planSlurm(options, plan)
  if (slurm) requireSlurm()
  await removeOrphanedLabs()
  const mode = options.mode && options.mode !== 'auto' ? options.mode : await detectMode()
  if (slurm && mode === 'loopback')
    throw new Error('A lab with Slurm requires namespaces; this machine or container does not allow them.')
  const id = crypto.randomUUID().slice(0, 8)
  const identity = readIdentity(options.identityFile, id)
  const state: LabState = {
    id,
    mode,
    dir: path.join(await ensureLabsDir(), id),
    createdAt: new Date().toISOString(),
    owner: identify(process.pid),
    supervisors: [],
    subnet: null,
    link: null,
    nodes: [],
    bastion: null,
    slurm,
    folders: options.folders ?? [],
    sharedFolder: options.sharedFolder ?? null,
    // Some modes and labs have fewer of them.
    credentials: structuredClone(identity.credentials),
  }
  await saveState(state)
  owned.set(id, state)
  try {
    const supervisor = await (mode === 'namespaces' ? startInNamespaces : startOnLoopback)(state, plan, identity)
    await saveState(state)
    if (options.identityFile !== undefined) saveIdentity(options.identityFile, identity)
    const lab = openLab(state)
    await lab.slurm?.ready()
    return { ...lab, ended: supervisor.ended }
  } catch (error) {
    await tearDown(state)
    owned.delete(id)
    throw error
  }
}

/** `namespaces` for root, except in a container that does not allow creating them. */
async function detectMode(): Promise<LabMode> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'loopback'
  requirePrograms({ unshare: 'util-linux' })
  const { code } = await capture(['unshare', '--mount', '--net', '--uts', '--ipc', '--pid', '--time', '--fork', 'true'])
  return code === 0 ? 'namespaces' : 'loopback'
}

/** Labs of this process, removed when it exits without calling `down`. */
const owned = new Map<string, LabState>()
process.on('exit', () => {
  for (const state of owned.values()) {
    for (const supervisor of state.supervisors.toReversed()) killProcess(supervisor)
    rmSync(state.dir, { recursive: true, force: true })
  }
})

/** Returns all running labs of this user, and removes labs of exited owners. */
export async function listLabs(): Promise<Lab[]> {
  return (await removeOrphanedLabs()).map(openLab)
}

/** Returns a handle on a running lab; it works in any process of the lab's user. */
export function openLab(state: LabState): Lab {
  const backend = backends[state.mode]
  const nodes: LabNode[] = state.nodes.map((node) => {
    const { profile, behindBastion } = node
    // Copies the getters, not their values: a host key can change.
    return Object.defineProperties(
      { profile, behindBastion, accelerators: profileOf(profile).accelerators },
      Object.getOwnPropertyDescriptors(backend.host(state, node)),
    ) as LabNode
  })
  const bastion = state.bastion && backend.host(state, state.bastion)
  const findHost = (name: string) => {
    const node = [...nodes, bastion].find((candidate) => candidate?.name === name)
    if (!node)
      throw new Error(`Lab ${state.id} has no node "${name}". Nodes: ${nodes.map(({ name: known }) => known).join(', ')}.`)
    return node
  }
  const slurm = openSlurm(state, nodes)
  const unavailable = backend.unavailable(state)
  const down = async () => {
    await tearDown(state)
    owned.delete(state.id)
  }
  return {
    id: state.id,
    mode: state.mode,
    dir: state.dir,
    hostAddress: state.subnet === null ? '127.0.0.1' : hostAddress(state.subnet),
    nodes,
    bastion,
    slurm,
    credentials: state.credentials,
    unavailable,
    node: (name) => {
      const node = findHost(name)
      if (!('profile' in node)) throw new Error(`"${name}" is the bastion of lab ${state.id}; use lab.bastion.`)
      return node as LabNode
    },
    async fault(node, name, args = {}) {
      const reason = unavailable[name as FaultName]
      if (reason) throw new Error(`Lab ${state.id} does not support the fault "${name}": ${reason}`)
      await backend.inject(state, findHost(node).name, name, args)
    },
    async heal(node) {
      const hosts = node ? [findHost(node)] : [...nodes, ...(bastion ? [bastion] : [])]
      await Promise.all(hosts.map(({ name }) => backend.heal(state, name)))
    },
    ready: (node) => backend.ready(state, findHost(node).name),
    down,
    [Symbol.asyncDispose]: down,
  }
}
