import { existsSync, readFileSync } from 'node:fs'
import { appendFile, readFile, rm } from 'node:fs/promises'
import path from 'node:path'
import type { Backend } from '../backend.ts'
import { waitUntil } from '../commands.ts'
import { fingerprint } from '../keys.ts'
import { slurmFaults } from '../slurm/faults.ts'
import type { FaultName } from '../types.ts'
import { bootIdOf, execInNode, hostKeyFiles, nodeInit, nodeReady } from './exec.ts'
import { faults } from './faults.ts'
import { targetOf } from './target.ts'

/** Labs in namespaces support every fault, those of Slurm if they have a cluster. Injected faults are recorded on the lab's tmpfs. */
export const namespaces: Backend = {
  host(state, { name, host, port }) {
    const publicKey = () => {
      const file = hostKeyFiles(state, name).find((candidate) => existsSync(candidate))
      if (!file) throw new Error(`Lab node ${name} has no host key: its lab ${state.id} has been stopped.`)
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
      bootId: () => bootIdOf(state, name),
      exec: (argv, { input } = {}) => execInNode(state, name, argv, input),
    }
  },
  unavailable: (state) =>
    state.slurm ? {} : Object.fromEntries(Object.keys(slurmFaults).map((name) => [name, 'it has no Slurm cluster.'])),
  async inject(state, name, fault, args) {
    if (!Object.hasOwn(faults, fault)) throw new Error(`Unknown fault "${fault}". Faults: ${Object.keys(faults).join(', ')}.`)
    const target = targetOf(state, name)
    await appendFile(path.join(target.dir, 'faults'), `${fault}\n`)
    await (faults[fault].inject as (faultTarget: typeof target, args: object) => Promise<unknown>)(target, args)
  },
  async heal(state, name) {
    const target = targetOf(state, name)
    const record = path.join(target.dir, 'faults')
    const lines = (await readFile(record, 'utf8').catch(() => '')).split('\n')
    const injected = new Set(lines.filter((line): line is FaultName => line in faults))
    // Power first: the other faults can be reverted only on a running node. Then in reverse order.
    if (injected.delete('power-off')) await faults['power-off'].revert?.(target)
    await waitUntil(`lab node ${name} to boot`, () => nodeInit(state, name).catch(() => null))
    for (const fault of [...injected].reverse()) await faults[fault].revert?.(target)
    await nodeReady(state, name)
    await rm(record, { force: true })
  },
  ready: nodeReady,
}
