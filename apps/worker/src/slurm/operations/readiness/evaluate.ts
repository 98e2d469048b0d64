import { slurmCheckMessages as messages } from '@muster/core/clusters'
import type { SlurmNodeCheck } from '@muster/core/slurm-operations'
import { type ConfigNode, gresTotals } from '@muster/slurm/config'
import { compareHardware } from './compare-hardware.ts'
import { compareSlurmVersion } from './compare-version.ts'
import type { ReadinessRequest } from './script.ts'

/** munge rejects credentials when clocks differ by five minutes. */
const MAX_OFFSET_S = 240
const WARN_OFFSET_S = 30
const MIN_DISK_KIB = 500 * 1024
const WARN_DISK_KIB = 2 * 1024 * 1024

export type ReadinessInput = ReadinessRequest & {
  config: ConfigNode
  /** Release of the cluster, such as 22.05.8; null before it exists. */
  release: string | null
  /** Whether the controller resolves the node's name; null: not asked. */
  isResolvedByController: boolean | null
  /** Time of this machine in seconds when the script ran. */
  now: number
}

/** Judges the output of `readinessScript`. */
export function evaluateReadiness(output: string, input: ReadinessInput): SlurmNodeCheck[] {
  const found = new Map<string, string[]>()
  for (const line of output.split('\n')) {
    const [word = '', ...rest] = line.trim().split(' ')
    found.set(word, [...(found.get(word) ?? []), rest.join(' ')])
  }
  const value = (word: string) => found.get(word)?.[0] ?? ''
  const has = (word: string, text: string) => found.get(word)?.includes(text) ?? false
  const checks: SlurmNodeCheck[] = []
  const add = (name: string, state: SlurmNodeCheck['state'], message: string) => checks.push({ name, state, message })
  const { config, controllers, release, prefix } = input

  add('reachable', 'OK', messages.loggedIn())
  if (has('root', 'yes')) add('root', 'OK', messages.isRoot())
  else add('root', 'WARNING', messages.asksPassword())
  const [id = '', version = '', ...like] = value('os').split(' ')
  const family = [id, ...like].find((word) => ['debian', 'ubuntu', 'rhel', 'fedora', 'centos'].includes(word))
  if (family || prefix !== null) add('os', 'OK', `${id} ${version}`.trim())
  else add('os', 'FAILED', messages.otherSystem({ system: `${id} ${version}` }))
  if (has('packages', 'missing'))
    add(
      'packages',
      // The repository of a cluster that does not exist yet is not known.
      release === null ? 'WARNING' : 'FAILED',
      messages.noPackages(),
    )
  const arch = value('arch')
  if (['x86_64', 'aarch64'].includes(arch)) add('arch', 'OK', arch)
  else add('arch', 'FAILED', messages.otherArchitecture({ arch: arch || 'unknown' }))
  const hostname = value('hostname').split('.')[0]!.toLowerCase()
  if (hostname === config.name) add('hostname', 'OK', hostname)
  else add('hostname', 'FAILED', messages.otherHostname({ hostname, name: config.name }))
  const offset = Math.round(Number(value('clock')) - input.now)
  const seconds = Math.abs(offset)
  const isBehind = offset < 0
  if (seconds > MAX_OFFSET_S) add('clock', 'FAILED', (isBehind ? messages.clockFarBehind : messages.clockFarAhead)({ seconds }))
  else if (seconds > WARN_OFFSET_S) add('clock', 'WARNING', (isBehind ? messages.clockBehind : messages.clockAhead)({ seconds }))
  else add('clock', 'OK', messages.clockEqual())
  for (const { name } of controllers) {
    if (has('reaches', name)) add('ports', 'OK', messages.reaches({ name }))
    else add('ports', 'FAILED', messages.noAnswer({ name }))
    if (has('resolves', name)) add('dns', 'OK', messages.resolves({ name }))
    else add('dns', 'WARNING', messages.doesNotResolve({ name }))
  }
  if (input.isResolvedByController !== null)
    add(
      'dns',
      input.isResolvedByController ? 'OK' : 'WARNING',
      input.isResolvedByController
        ? messages.isResolved({ name: config.name })
        : messages.notResolved({ name: config.name, address: config.address }),
    )
  if (has('running', 'slurmd') || found.has('port')) add('slurm', 'FAILED', messages.slurmdRuns())
  else if (has('running', 'slurmdbd')) add('slurm', 'FAILED', messages.otherDaemonRuns({ daemon: 'slurmdbd' }))
  else if (has('running', 'slurmctld')) add('slurm', 'FAILED', messages.otherDaemonRuns({ daemon: 'slurmctld' }))
  else if (prefix !== null && !found.has('prefix')) add('slurm', 'FAILED', messages.noPrefix({ prefix }))
  else if (has('installed', 'slurmd')) addVersion(add, value('version'), release)
  else add('slurm', 'OK', messages.notInstalled())
  if (has('running', 'munged')) add('munge', 'FAILED', messages.mungeRuns())
  else add('munge', 'OK', has('installed', 'munged') ? messages.installed() : messages.notInstalled())
  if (found.has('cgroup')) add('cgroups', 'OK', value('cgroup'))
  else add('cgroups', 'WARNING', messages.noCgroups())
  const free = Number(value('disk').split(/\s+/)[3] ?? Number.NaN)
  if (!(free >= MIN_DISK_KIB)) add('disk', 'FAILED', messages.diskFull({ free: mib(free) }))
  else add('disk', free < WARN_DISK_KIB ? 'WARNING' : 'OK', messages.disk({ free: mib(free) }))
  const missing = found.get('missing') ?? []
  const devices = gresTotals(config.gres.filter(({ name }) => name !== 'shard'))
  const gpus = devices.reduce((sum, { count }) => sum + count, 0)
  if (missing.length > 0)
    add('gpus', 'FAILED', messages.noDevices({ missing: missing.length, total: gpus, names: missing.slice(0, 3).join(', ') }))
  else if (gpus > 0) add('gpus', 'OK', devices.map(({ name, type, count }) => `${count} × ${type ?? name}`).join(', '))
  if (found.has('hardware')) checks.push(compareHardware(value('hardware'), config, 'WARNING'))
  return checks
}

type Add = (name: string, state: SlurmNodeCheck['state'], message: string) => void

const mib = (kib: number) => (Number.isNaN(kib) ? 'an unknown amount' : `${Math.floor(kib / 1024)} MiB`)

function addVersion(add: Add, text: string, release: string | null): void {
  const own = /(\d+\.\d+)/.exec(text)?.[1] ?? ''
  const { state, message } = compareSlurmVersion(`slurmd ${own}`, text, release)
  add('slurm', state, message)
}
