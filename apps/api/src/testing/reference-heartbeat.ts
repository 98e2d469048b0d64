import { type KeyObject, sign } from 'node:crypto'
import { membersOf } from './reference-json.ts'

// What docs/agent-protocol.md says of a heartbeat, written down a second time and without the code under test.

type Check = (value: unknown) => boolean
type Said = Record<string, unknown>

const isObject = (value: unknown): value is Said => typeof value === 'object' && value !== null && !Array.isArray(value)
const whole = (least: number, most = 2 ** 53 - 1): Check => {
  return (value) => Number.isInteger(value) && (value as number) >= least && (value as number) <= most
}
const text = (most: number, least = 0): Check => {
  return (value) => typeof value === 'string' && value.length >= least && value.length <= most
}
const word = (pattern: RegExp): Check => {
  return (value) => typeof value === 'string' && pattern.test(value)
}
const maybe = (check: Check): Check => {
  return (value) => value === undefined || value === null || check(value)
}
const list = (most: number, check: Check): Check => {
  return (value) => Array.isArray(value) && value.length <= most && value.every(check)
}
const all = (checks: Record<string, Check>): Check => {
  return (value) => isObject(value) && Object.entries(checks).every(([name, check]) => check(value[name]))
}
const each = (names: string[], check: Check): Record<string, Check> => Object.fromEntries(names.map((name) => [name, check]))

const TIME = /^(\d{4})-(\d\d)-(\d\d)T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/
const time: Check = (value) => {
  if (typeof value !== 'string' || value.length > 40) return false
  const [, year = 0, month = 0, day = 0] = TIME.exec(value)?.map(Number) ?? []
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  const days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1] ?? 0
  return day >= 1 && day <= days
}
const count = maybe(whole(0, 2 ** 31 - 1))
const large = maybe(whole(0))
const name = maybe(text(255))
const flag = maybe((value) => typeof value === 'boolean')
const quantity = maybe((value) => typeof value === 'number')
const percent = maybe((value) => typeof value === 'number' && value >= 0 && value <= 100)
const load = maybe((value) => text(32)(value) && word(/^\d+(\.\d+)?$/)(value))

const RESOURCES = ['cpu_cores', 'memory_gb', 'gpus', 'storage_gb']

/** What is in each part of a heartbeat. */
export const PARTS: Record<string, Record<string, Check>> = {
  capacity: {
    ...each(
      RESOURCES.flatMap((resource) => ['total', 'available', 'allocated'].map((part) => `${resource}_${part}`)),
      count,
    ),
    cpu_cores_total: whole(1, 2 ** 31 - 1),
    gpu_type: name,
  },
  health: {
    status: word(/^(healthy|degraded|unhealthy|draining|offline)$/),
    uptime_seconds: large,
    ...each(['load_average_1m', 'load_average_5m', 'load_average_15m'], load),
    ...each(
      ['cpu', 'memory', 'gpu', 'gpu_memory', 'disk_io', 'network'].map((part) => `${part}_utilization_percent`),
      percent,
    ),
    ...each(['cpu_iowait_percent', 'cpu_steal_percent'], percent),
    ...each(['temperature_celsius', 'gpu_temperature_celsius'], quantity),
    ...each(['error_count_24h', 'warning_count_24h'], count),
    last_error_message: maybe(text(1024)),
    ...each(['slurm_state', 'boot_id'], name),
    reasons: maybe(list(64, text(1024))),
  },
  latency: {
    measurements: maybe(
      list(256, all({ target_node_id: text(255), latency_us: large, packet_loss_percent: percent, measured_at: maybe(time) })),
    ),
    ...each(['gateway_latency_us', 'chain_latency_ms', 'avg_cluster_latency_us'], large),
  },
  jobs: {
    ...each(['running_count', 'pending_count', 'completed_24h', 'failed_24h'], count),
    active_job_ids: maybe(list(4096, text(128))),
  },
  services: {
    ...each(['slurmd_running', 'munge_running'], flag),
    ...each(['slurmd_version', 'container_runtime', 'container_runtime_version'], name),
  },
}

const accelerator = all({
  ...each(['device_type', 'vendor', 'model', 'uuid', 'slot', 'pci_address'], name),
  index: count,
  health: maybe(word(/^(ok|warning|critical|lost|unknown)$/)),
  ...each(['memory_total_bytes', 'memory_used_bytes', 'ecc_corrected', 'ecc_uncorrected'], large),
  utilization_percent: percent,
  ...each(['temperature_celsius', 'power_watts'], quantity),
})
const isInterface = all({
  name: text(64),
  kind: maybe(word(/^(ethernet|infiniband)$/)),
  state: name,
  ...each(['speed_mbps', 'errors'], large),
})

const fits: Check = (capacity) =>
  RESOURCES.every((resource) => {
    const [available, total] = [(capacity as Said)[`${resource}_available`], (capacity as Said)[`${resource}_total`]]
    return typeof available !== 'number' || typeof total !== 'number' || available <= total
  })

export const FIELDS: Record<string, Check> = {
  node_id: word(/^[A-Za-z0-9._-]{4,64}$/),
  cluster_id: text(128, 1),
  sequence_number: whole(1),
  timestamp: time,
  agent_version: maybe(text(64)),
  boot_epoch: (value) => value === undefined || whole(0)(value),
  measured_at: maybe(time),
  capacity: (value) => all(PARTS.capacity!)(value) && fits(value),
  health: all(PARTS.health!),
  latency: maybe(all(PARTS.latency!)),
  jobs: maybe(all(PARTS.jobs!)),
  services: maybe(all(PARTS.services!)),
  accelerators: maybe(list(512, accelerator)),
  interfaces: maybe(list(256, isInterface)),
  hardware_fingerprint: maybe(text(128)),
}
const isHeartbeat = all(FIELDS)
const isAuth = all({ signature: text(128), nonce: maybe(text(128)), timestamp: maybe(whole(-(2 ** 53) + 1)) })

/** An agent as it is known to the API: `last` is the (boot epoch, sequence) that was accepted last. */
export type CachedAgent = {
  name: string
  cluster: string
  fingerprint: string
  privateKey: KeyObject
  last: [epoch: number, sequence: number]
}

/**
 * Whether this body has to be accepted, and then it counts as the last one of its agent. Who has the key makes one signature for the
 * bytes; no other is right. Times at the very edge of the window are not for it: it has another clock.
 */
export function mayCount(body: Buffer, agents: ReadonlyMap<string, CachedAgent>): boolean {
  const members = membersOf(body)
  const [said, auth] = [members?.get('heartbeat'), members?.get('auth')?.value]
  if (!said || !isHeartbeat(said.value) || !isAuth(auth)) return false
  const heartbeat = said.value as Said
  const agent = agents.get(heartbeat.node_id as string)
  if (!agent || heartbeat.cluster_id !== agent.cluster) return false
  if ((heartbeat.hardware_fingerprint ?? agent.fingerprint) !== agent.fingerprint) return false
  if (Math.abs(Date.parse(heartbeat.timestamp as string) - Date.now()) > 300_000) return false
  const [epoch, sequence] = [(heartbeat.boot_epoch as number | undefined) ?? 0, heartbeat.sequence_number as number]
  if (epoch < agent.last[0] || (epoch === agent.last[0] && sequence <= agent.last[1])) return false
  const signature = sign(null, body.subarray(said.from, said.end), agent.privateKey).toString('base64')
  if (signature !== (auth as Said).signature) return false
  agent.last = [epoch, sequence]
  return true
}
