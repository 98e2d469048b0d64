import { type KeyObject, sign } from 'node:crypto'
import { membersOf } from './reference-json.ts'

// A second implementation of docs/agent-protocol.md that shares no code with the implementation under test.

type Check = (value: unknown) => boolean
type Fields = Record<string, unknown>

const isObject = (value: unknown): value is Fields => typeof value === 'object' && value !== null && !Array.isArray(value)
const integer = (min: number, max = 2 ** 53 - 1): Check => {
  return (value) => Number.isInteger(value) && (value as number) >= min && (value as number) <= max
}
const text = (max: number, min = 0): Check => {
  return (value) => typeof value === 'string' && value.length >= min && value.length <= max
}
const matching = (pattern: RegExp): Check => {
  return (value) => typeof value === 'string' && pattern.test(value)
}
const optional = (check: Check): Check => {
  return (value) => value === undefined || value === null || check(value)
}
const list = (max: number, check: Check): Check => {
  return (value) => Array.isArray(value) && value.length <= max && value.every(check)
}
const object = (checks: Record<string, Check>): Check => {
  return (value) => isObject(value) && Object.entries(checks).every(([name, check]) => check(value[name]))
}
const fields = (names: string[], check: Check): Record<string, Check> => Object.fromEntries(names.map((name) => [name, check]))

const TIME = /^(\d{4})-(\d\d)-(\d\d)T([01]\d|2[0-3]):[0-5]\d:[0-5]\d(\.\d+)?(Z|[+-]([01]\d|2[0-3]):[0-5]\d)$/
const time: Check = (value) => {
  if (typeof value !== 'string' || value.length > 40) return false
  const [, year = 0, month = 0, day = 0] = TIME.exec(value)?.map(Number) ?? []
  const isLeap = year % 4 === 0 && (year % 100 !== 0 || year % 400 === 0)
  const days = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1] ?? 0
  return day >= 1 && day <= days
}
const count = optional(integer(0, 2 ** 31 - 1))
const large = optional(integer(0))
const name = optional(text(255))
const flag = optional((value) => typeof value === 'boolean')
const quantity = optional((value) => typeof value === 'number')
const percent = optional((value) => typeof value === 'number' && value >= 0 && value <= 100)
const load = optional((value) => text(32)(value) && matching(/^\d+(\.\d+)?$/)(value))

const RESOURCES = ['cpu_cores', 'memory_gb', 'gpus', 'storage_gb']

/** Fields of each part of a heartbeat. */
export const PARTS: Record<string, Record<string, Check>> = {
  capacity: {
    ...fields(
      RESOURCES.flatMap((resource) => ['total', 'available', 'allocated'].map((part) => `${resource}_${part}`)),
      count,
    ),
    cpu_cores_total: integer(1, 2 ** 31 - 1),
    gpu_type: name,
  },
  health: {
    status: matching(/^(healthy|degraded|unhealthy|draining|offline)$/),
    uptime_seconds: large,
    ...fields(['load_average_1m', 'load_average_5m', 'load_average_15m'], load),
    ...fields(
      ['cpu', 'memory', 'gpu', 'gpu_memory', 'disk_io', 'network'].map((part) => `${part}_utilization_percent`),
      percent,
    ),
    ...fields(['cpu_iowait_percent', 'cpu_steal_percent'], percent),
    ...fields(['temperature_celsius', 'gpu_temperature_celsius'], quantity),
    ...fields(['error_count_24h', 'warning_count_24h'], count),
    last_error_message: optional(text(1024)),
    slurm_state: optional(text(Number.POSITIVE_INFINITY)),
    boot_id: name,
    reasons: optional(list(64, text(1024))),
  },
  latency: {
    measurements: optional(
      list(
        256,
        object({ target_node_id: text(255), latency_us: large, packet_loss_percent: percent, measured_at: optional(time) }),
      ),
    ),
    ...fields(['gateway_latency_us', 'chain_latency_ms', 'avg_cluster_latency_us'], large),
  },
  jobs: {
    ...fields(['running_count', 'pending_count', 'completed_24h', 'failed_24h'], count),
    active_job_ids: optional(list(4096, text(128))),
  },
  services: {
    ...fields(['slurmd_running', 'munge_running'], flag),
    ...fields(['slurmd_version', 'container_runtime', 'container_runtime_version'], name),
  },
}

const accelerator = object({
  ...fields(['device_type', 'vendor', 'model', 'uuid', 'slot', 'pci_address'], name),
  index: count,
  health: optional(matching(/^(ok|warning|critical|lost|unknown)$/)),
  ...fields(['memory_total_bytes', 'memory_used_bytes', 'ecc_corrected', 'ecc_uncorrected'], large),
  utilization_percent: percent,
  ...fields(['temperature_celsius', 'power_watts'], quantity),
})
const isInterface = object({
  name: text(64),
  kind: optional(matching(/^(ethernet|infiniband)$/)),
  state: name,
  ...fields(['speed_mbps', 'errors'], large),
})

const availableWithinTotal: Check = (capacity) =>
  RESOURCES.every((resource) => {
    const [available, total] = [(capacity as Fields)[`${resource}_available`], (capacity as Fields)[`${resource}_total`]]
    return typeof available !== 'number' || typeof total !== 'number' || available <= total
  })

export const FIELDS: Record<string, Check> = {
  node_id: matching(/^[A-Za-z0-9._-]{4,64}$/),
  cluster_id: text(128, 1),
  sequence_number: integer(1),
  timestamp: time,
  agent_version: optional(text(64)),
  boot_epoch: optional(integer(0)),
  measured_at: optional(time),
  capacity: (value) => object(PARTS.capacity!)(value) && availableWithinTotal(value),
  health: object(PARTS.health!),
  latency: optional(object(PARTS.latency!)),
  jobs: optional(object(PARTS.jobs!)),
  services: optional(object(PARTS.services!)),
  accelerators: optional(list(512, accelerator)),
  interfaces: optional(list(256, isInterface)),
  hardware_fingerprint: optional(text(128)),
}
const ESSENTIAL = [
  'node_id',
  'cluster_id',
  'sequence_number',
  'timestamp',
  'boot_epoch',
  'measured_at',
  'capacity',
  'hardware_fingerprint',
]
/** Other values out of their bounds are cut or ignored. */
const isHeartbeat = object({
  ...Object.fromEntries(ESSENTIAL.map((name) => [name, FIELDS[name]!])),
  health: object({ status: PARTS.health!.status! }),
})
const isAuth = object({ signature: text(128), nonce: optional(text(128)), timestamp: optional(integer(-(2 ** 53) + 1)) })

/** An agent as the API knows it. `last`: boot epoch and sequence of the last accepted heartbeat. */
export type CachedAgent = {
  name: string
  cluster: string
  fingerprint: string
  privateKey: KeyObject
  last: [epoch: number, sequence: number]
}

/**
 * Whether the API must accept this body; if so, updates `last` of its agent. Ed25519 signatures are deterministic, so exactly one
 * signature is valid. Timestamps at the edge of the window are not supported, because the clocks differ.
 */
export function acceptByReference(body: Buffer, agents: ReadonlyMap<string, CachedAgent>): boolean {
  const members = membersOf(body)
  const [signed, auth] = [members?.get('heartbeat'), members?.get('auth')?.value]
  if (!signed || !isHeartbeat(signed.value) || !isAuth(auth)) return false
  const heartbeat = signed.value as Fields
  const agent = agents.get(heartbeat.node_id as string)
  if (!agent || heartbeat.cluster_id !== agent.cluster) return false
  if ((heartbeat.hardware_fingerprint ?? agent.fingerprint) !== agent.fingerprint) return false
  if (Math.abs(Date.parse(heartbeat.timestamp as string) - Date.now()) > 300_000) return false
  const [epoch, sequence] = [(heartbeat.boot_epoch as number | undefined) ?? 0, heartbeat.sequence_number as number]
  if (epoch < agent.last[0] || (epoch === agent.last[0] && sequence <= agent.last[1])) return false
  const signature = sign(null, body.subarray(signed.from, signed.end), agent.privateKey).toString('base64')
  if (signature !== (auth as Fields).signature) return false
  agent.last = [epoch, sequence]
  return true
}
