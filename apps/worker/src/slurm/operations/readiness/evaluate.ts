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

  add('reachable', 'OK', 'logged in over SSH')
  if (has('root', 'yes')) add('root', 'OK', 'may become root')
  else add('root', 'WARNING', 'sudo asks for a password; the become password of the node is used')
  const [id = '', version = '', ...like] = value('os').split(' ')
  const family = [id, ...like].find((word) => ['debian', 'ubuntu', 'rhel', 'fedora', 'centos'].includes(word))
  if (family || prefix !== null) add('os', 'OK', `${id} ${version}`.trim())
  else
    add('os', 'FAILED', `${id} ${version} is neither of the Debian nor of the RHEL family; use a prefix with an installed Slurm`)
  const arch = value('arch')
  if (['x86_64', 'aarch64'].includes(arch)) add('arch', 'OK', arch)
  else add('arch', 'FAILED', `${arch || 'unknown'}; Slurm is installed on x86_64 and aarch64 only`)
  const hostname = value('hostname').split('.')[0]!.toLowerCase()
  if (hostname === config.name) add('hostname', 'OK', hostname)
  else add('hostname', 'FAILED', `the host name is ${hostname}, and not ${config.name}; run a discovery of the node`)
  const offset = Math.round(Number(value('clock')) - input.now)
  const clock = `${Math.abs(offset)} s ${offset < 0 ? 'behind' : 'ahead of'} Muster`
  if (Math.abs(offset) > MAX_OFFSET_S)
    add('clock', 'FAILED', `${clock}; munge would reject its credentials. Synchronize the clock`)
  else if (Math.abs(offset) > WARN_OFFSET_S) add('clock', 'WARNING', `${clock}; synchronize the clock`)
  else add('clock', 'OK', 'equal to the clock of Muster')
  for (const { name } of controllers) {
    if (has('reaches', name)) add('ports', 'OK', `reaches port 6817 of ${name}`)
    else add('ports', 'FAILED', `port 6817 of ${name} does not answer; check routes and firewalls`)
    if (has('resolves', name)) add('dns', 'OK', `resolves ${name}`)
    else add('dns', 'WARNING', `does not resolve ${name}; slurmd uses its address`)
  }
  if (input.isResolvedByController !== null)
    add(
      'dns',
      input.isResolvedByController ? 'OK' : 'WARNING',
      input.isResolvedByController
        ? `the controller resolves ${config.name}`
        : `the controller does not resolve ${config.name}; it uses ${config.address}`,
    )
  if (has('running', 'slurmd') || found.has('port'))
    add('slurm', 'FAILED', 'slurmd runs here already, or another program uses port 6818; stop it, or choose another node')
  else if (has('running', 'slurmdbd')) add('slurm', 'FAILED', 'slurmdbd of another cluster runs here; choose another node')
  else if (has('running', 'slurmctld')) add('slurm', 'FAILED', 'slurmctld of another cluster runs here; choose another node')
  else if (prefix !== null && !found.has('prefix'))
    add('slurm', 'FAILED', `${prefix}/sbin/slurmd is missing; install Slurm there, or choose another prefix`)
  else if (has('installed', 'slurmd')) addVersion(add, value('version'), release)
  else add('slurm', 'OK', 'not installed')
  if (has('running', 'munged'))
    add(
      'munge',
      'FAILED',
      'munge runs here, with the key of another cluster; stop it and remove its package, or choose another node',
    )
  else add('munge', 'OK', has('installed', 'munged') ? 'installed' : 'not installed')
  if (found.has('cgroup')) add('cgroups', 'OK', value('cgroup'))
  else add('cgroups', 'WARNING', 'not mounted; slurmd cannot limit jobs')
  const free = Number(value('disk').split(/\s+/)[3] ?? Number.NaN)
  if (!(free >= MIN_DISK_KIB)) add('disk', 'FAILED', `${mib(free)} free in /var; Slurm needs 500 MiB`)
  else add('disk', free < WARN_DISK_KIB ? 'WARNING' : 'OK', `${mib(free)} free in /var`)
  const missing = found.get('missing') ?? []
  const devices = gresTotals(config.gres.filter(({ name }) => name !== 'shard'))
  const gpus = devices.reduce((sum, { count }) => sum + count, 0)
  if (missing.length > 0)
    add(
      'gpus',
      'FAILED',
      `${missing.length} of ${gpus} device files are missing: ${missing.slice(0, 3).join(', ')}. Check the driver`,
    )
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
