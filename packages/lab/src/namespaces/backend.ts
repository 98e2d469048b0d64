import { existsSync, readFileSync } from 'node:fs'
import { appendFile, readFile, rm } from 'node:fs/promises'
import path from 'node:path'
import type { Backend } from '../backend.ts'
import { until } from '../commands.ts'
import { fingerprint } from '../keys.ts'
import type { FaultName } from '../types.ts'
import { bootIdOf, execInNode, hostKeyFiles, nodeInit, nodeReady } from './exec.ts'
import { faults, placeOf } from './faults.ts'

/** Labs in namespaces: every fault there is. What was caused is noted on the lab's own tmpfs. */
export const namespaces: Backend = {
  host(state, { name, host, port }) {
    const publicKey = () => {
      const file = hostKeyFiles(state, name).find((candidate) => existsSync(candidate))
      if (!file) throw new Error(`Lab node ${name} has no host key any more: its lab ${state.id} is down.`)
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
  unavailable: () => ({}),
  async cause(state, name, fault, args) {
    if (!Object.hasOwn(faults, fault))
      throw new Error(`There is no fault "${fault}"; there are ${Object.keys(faults).join(', ')}.`)
    const at = placeOf(state, name)
    await appendFile(path.join(at.dir, 'faults'), `${fault}\n`)
    await (faults[fault].cause as (place: typeof at, args: object) => Promise<unknown>)(at, args)
  },
  async heal(state, name) {
    const at = placeOf(state, name)
    const record = path.join(at.dir, 'faults')
    const lines = (await readFile(record, 'utf8').catch(() => '')).split('\n')
    const caused = new Set(lines.filter((line): line is FaultName => line in faults))
    // The last first; but a node without power needs that before all else.
    if (caused.delete('power-off')) await faults['power-off'].undo?.(at)
    await until(`lab node ${name} to boot`, () => nodeInit(state, name).catch(() => null))
    for (const fault of [...caused].reverse()) await faults[fault].undo?.(at)
    await nodeReady(state, name)
    await rm(record, { force: true })
  },
  ready: nodeReady,
}
