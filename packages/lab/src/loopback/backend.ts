import { existsSync, readFileSync } from 'node:fs'
import { appendFile, readFile, rm } from 'node:fs/promises'
import path from 'node:path'
import type { Backend } from '../backend.ts'
import { capture, cleanEnv, runChecked } from '../commands.ts'
import { fingerprint } from '../keys.ts'
import type { LabState } from '../registry.ts'
import type { FaultName } from '../types.ts'
import { faults, unavailable } from './faults.ts'
import { nodeDir, waitUntilListening } from './start.ts'

/** Labs of sshd processes. Faults in resources shared with this machine are unavailable. Injected faults are recorded on disk. */
export const loopback: Backend = {
  host(state, { name, host, port }) {
    const dir = nodeDir(state, name)
    const publicKey = () => {
      const file = path.join(dir, 'host_key.pub')
      if (!existsSync(file)) throw new Error(`Lab node ${name} has no host key: its lab ${state.id} has been stopped.`)
      return readFileSync(file, 'utf8').trim().split(' ', 2).join(' ')
    }
    return {
      name,
      host,
      port,
      get hostPublicKey() {
        return publicKey()
      },
      get hostKeyFingerprint() {
        return fingerprint(publicKey())
      },
      bootId,
      exec: (argv, { input } = {}) => {
        return capture(['env', `PATH=${dir}/bin:${cleanEnv.PATH}`, `HOME=${dir}/home`, ...argv], input)
      },
    }
  },
  unavailable: () => unavailable,
  async inject(state, name, fault, args) {
    const known = faults[fault] as { inject(target: object, args: object): Promise<unknown> } | undefined
    if (!known) throw new Error(`Unknown fault "${fault}". Faults: ${Object.keys(faults).join(', ')}.`)
    await appendFile(record(state, name), `${fault}\n`)
    await known.inject(targetOf(state, name), args)
  },
  async heal(state, name) {
    const lines = (await readFile(record(state, name), 'utf8').catch(() => '')).split('\n')
    const injected = new Set(lines.filter((line): line is FaultName => line in faults))
    for (const fault of [...injected].reverse()) await faults[fault]?.revert(targetOf(state, name))
    await waitUntilListening(state, hostOf(state, name))
    await rm(record(state, name), { force: true })
  },
  async ready(state, name) {
    await waitUntilListening(state, hostOf(state, name))
    return bootId()
  },
}

const record = (state: LabState, name: string) => path.join(nodeDir(state, name), 'faults')

function hostOf(state: LabState, name: string) {
  return [...state.nodes, state.bastion].find((host) => host?.name === name)!
}

function targetOf(state: LabState, name: string) {
  const node = state.nodes.find((candidate) => candidate.name === name)
  return { ...hostOf(state, name), dir: nodeDir(state, name), profile: node?.profile ?? null, tag: node?.tag ?? '' }
}

/** This machine's boot id, which all nodes share. */
async function bootId(): Promise<string> {
  if (process.platform === 'linux') return (await readFile('/proc/sys/kernel/random/boot_id', 'utf8')).trim()
  return (await runChecked(['sysctl', '-n', 'kern.bootsessionuuid'])).trim()
}
