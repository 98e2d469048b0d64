import { rmSync } from 'node:fs'
import path from 'node:path'
import type { Backend } from './backend.ts'
import { capture, requirePrograms } from './commands.ts'
import { newKeyLogin, newPassword } from './keys.ts'
import { loopback } from './loopback/backend.ts'
import { upOnLoopback } from './loopback/up.ts'
import { namespaces } from './namespaces/backend.ts'
import { hostAddress } from './namespaces/network.ts'
import { upInNamespaces } from './namespaces/up.ts'
import { planNodes } from './plan.ts'
import { profileOf } from './profiles.ts'
import { killExactly, type LabState, openLabsDir, refTo, saveState } from './registry.ts'
import { sweep, tearDown } from './sweep.ts'
import type { FaultName, Lab, LabCredentials, LabMode, LabNode, LabOptions } from './types.ts'

const backends: Record<LabMode, Backend> = { namespaces, loopback }

/** A lab together with the promise that settles when its processes end, for whatever reason. */
export interface OwnedLab extends Lab {
  ended: Promise<void>
}

/**
 * Brings a lab up and returns when every node's sshd listens. The calling process owns it: when that ends, by `down`, by
 * its own end or by SIGKILL, the lab's processes end, and what is left of it is swept by the next use of any lab.
 */
export async function labUp(options: LabOptions = {}): Promise<OwnedLab> {
  const plan = planNodes(options)
  await sweep()
  const mode = options.mode && options.mode !== 'auto' ? options.mode : await bestMode()
  const id = crypto.randomUUID().slice(0, 8)
  const state: LabState = {
    id,
    mode,
    dir: path.join(await openLabsDir(), id),
    createdAt: new Date().toISOString(),
    owner: refTo(process.pid),
    keepers: [],
    subnet: null,
    link: null,
    nodes: [],
    bastion: null,
    credentials: newCredentials(),
  }
  await saveState(state)
  owned.set(id, state)
  try {
    const keeper = await (mode === 'namespaces' ? upInNamespaces(state, plan) : upOnLoopback(state, plan))
    await saveState(state)
    return { ...openLab(state), ended: keeper.ended }
  } catch (error) {
    await tearDown(state)
    owned.delete(id)
    throw error
  }
}

/** Namespaces for root, unless it is a container's root that may not make any. */
async function bestMode(): Promise<LabMode> {
  if (process.platform !== 'linux' || process.getuid?.() !== 0) return 'loopback'
  requirePrograms({ unshare: 'util-linux' })
  const { code } = await capture(['unshare', '--mount', '--net', '--uts', '--ipc', '--pid', '--time', '--fork', 'true'])
  return code === 0 ? 'namespaces' : 'loopback'
}

/** The labs of this process, for its end: even without `down` nothing of them may stay. */
const owned = new Map<string, LabState>()
process.on('exit', () => {
  for (const state of owned.values()) {
    for (const keeper of state.keepers.toReversed()) killExactly(keeper)
    rmSync(state.dir, { recursive: true, force: true })
  }
})

function newCredentials(): LabCredentials {
  const sshKey = newKeyLogin('ops')
  const password = (username: string) => ({ username, password: newPassword() })
  return {
    sshKey,
    sshPassword: password('ops'),
    rootKey: { ...sshKey, username: 'root' },
    sudoPassword: password('admin'),
    plainPassword: password('plain'),
    rootPassword: password('root'),
    bastionKey: newKeyLogin('jump'),
    bastionPassword: password('jump'),
  }
}

/** The labs that are up, whoever owns them. Sweeps dead ones first. */
export async function listLabs(): Promise<Lab[]> {
  return (await sweep()).map(openLab)
}

/** A handle on a running lab from its state; `down` works from any process of the lab's user. */
export function openLab(state: LabState): Lab {
  const backend = backends[state.mode]
  const nodes: LabNode[] = state.nodes.map((node) => {
    const { profile, behindBastion } = node
    // The host's getters must stay getters: its key can change.
    return Object.defineProperties(
      { profile, behindBastion, accelerators: profileOf(profile).accelerators },
      Object.getOwnPropertyDescriptors(backend.host(state, node)),
    ) as LabNode
  })
  const bastion = state.bastion && backend.host(state, state.bastion)
  const named = (name: string) => {
    const node = [...nodes, bastion].find((candidate) => candidate?.name === name)
    if (!node) throw new Error(`Lab ${state.id} has no node "${name}"; it has ${nodes.map((known) => known.name).join(', ')}.`)
    return node
  }
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
    credentials: state.credentials,
    unavailable,
    node: (name) => {
      const node = named(name)
      if (!('profile' in node)) throw new Error(`"${name}" is the bastion of lab ${state.id}; use lab.bastion.`)
      return node as LabNode
    },
    async fault(node, name, args = {}) {
      const reason = unavailable[name as FaultName]
      if (reason) throw new Error(`Lab ${state.id} cannot cause "${name}": ${reason}`)
      await backend.cause(state, named(node).name, name, args)
    },
    async heal(node) {
      const wanted = node ? [named(node)] : [...nodes, ...(bastion ? [bastion] : [])]
      await Promise.all(wanted.map(({ name }) => backend.heal(state, name)))
    },
    ready: (node) => backend.ready(state, named(node).name),
    down,
    [Symbol.asyncDispose]: down,
  }
}
