import { z } from 'zod'

// Third-party agents written in Go send 0 for an unknown count and omit an unknown text. Our agent sends null for unknown values,
// so every field is nullable except those that identify the heartbeat. Unknown fields are preserved.

/** Go's int32, which also fits a Postgres integer. */
const count = z.number().int().min(0).max(0x7fff_ffff).nullish()
/** Go's int64, up to the largest exact integer of a double. */
const large = z.number().int().min(0).nullish()
const percent = z.number().min(0).max(100).nullish()
const quantity = z.number().nullish()
const flag = z.boolean().nullish()
const text = z.string().max(1024).nullish()
const name = z.string().max(255).nullish()
/** RFC 3339 with any number of fractional digits. */
const time = z.iso.datetime({ offset: true }).max(40)

export const NodeId = z.string().regex(/^[A-Za-z0-9._-]{4,64}$/, 'is 4 to 64 letters, digits, dots, underscores or hyphens')
export const ClusterId = z.string().min(1).max(128)

const RESOURCES = ['cpu_cores', 'memory_gb', 'gpus', 'storage_gb'] as const

export const Capacity = z
  .looseObject({
    cpu_cores_total: z.number().int().min(1).max(0x7fff_ffff),
    cpu_cores_available: count,
    cpu_cores_allocated: count,
    memory_gb_total: count,
    memory_gb_available: count,
    memory_gb_allocated: count,
    gpus_total: count,
    gpus_available: count,
    gpus_allocated: count,
    gpu_type: name,
    storage_gb_total: count,
    storage_gb_available: count,
    storage_gb_allocated: count,
  })
  .superRefine((capacity, ctx) => {
    for (const resource of RESOURCES) {
      const [available, total] = [capacity[`${resource}_available`], capacity[`${resource}_total`]]
      if (available != null && total != null && available > total)
        ctx.addIssue({ code: 'custom', path: [`${resource}_available`], message: `is more than ${resource}_total` })
    }
  })
export type Capacity = z.infer<typeof Capacity>

const load = z
  .string()
  .max(32)
  .regex(/^\d+(\.\d+)?$/, 'is a decimal number')
  .nullish()

export const Health = z.looseObject({
  status: z.enum(['healthy', 'degraded', 'unhealthy', 'draining', 'offline']),
  uptime_seconds: large,
  load_average_1m: load,
  load_average_5m: load,
  load_average_15m: load,
  cpu_utilization_percent: percent,
  memory_utilization_percent: percent,
  gpu_utilization_percent: percent,
  gpu_memory_utilization_percent: percent,
  disk_io_utilization_percent: percent,
  network_utilization_percent: percent,
  temperature_celsius: quantity,
  gpu_temperature_celsius: quantity,
  error_count_24h: count,
  warning_count_24h: count,
  last_error_message: text,
  /** sinfo prints a line for each partition of the node. The size of the body limits it. */
  slurm_state: z.string().nullish(),
  // Sent only by our agent:
  boot_id: name,
  cpu_iowait_percent: percent,
  cpu_steal_percent: percent,
  reasons: z.array(z.string().max(1024)).max(64).nullish(),
})
export type Health = z.infer<typeof Health>

const Measurement = z.looseObject({
  target_node_id: z.string().max(255),
  latency_us: large,
  packet_loss_percent: percent,
  measured_at: time.nullish(),
})

const Latency = z.looseObject({
  measurements: z.array(Measurement).max(256).nullish(),
  gateway_latency_us: large,
  chain_latency_ms: large,
  avg_cluster_latency_us: large,
})

const Jobs = z.looseObject({
  running_count: count,
  pending_count: count,
  completed_24h: count,
  failed_24h: count,
  active_job_ids: z.array(z.string().max(128)).max(4096).nullish(),
})

const Services = z.looseObject({
  slurmd_running: flag,
  slurmd_version: name,
  munge_running: flag,
  container_runtime: name,
  container_runtime_version: name,
})

/** One physical accelerator. Terms match those of discovery. */
export const AcceleratorReport = z.looseObject({
  device_type: name,
  vendor: name,
  model: name,
  index: count,
  uuid: name,
  slot: name,
  pci_address: name,
  health: z.enum(['ok', 'warning', 'critical', 'lost', 'unknown']).nullish(),
  memory_total_bytes: large,
  memory_used_bytes: large,
  utilization_percent: percent,
  temperature_celsius: quantity,
  power_watts: quantity,
  ecc_corrected: large,
  ecc_uncorrected: large,
})
export type AcceleratorReport = z.infer<typeof AcceleratorReport>

const Interface = z.looseObject({
  name: z.string().max(64),
  kind: z.enum(['ethernet', 'infiniband']).nullish(),
  state: name,
  speed_mbps: large,
  errors: large,
})

/**
 * A heartbeat without its signature. The API validates thousands per second: the compiled schema takes a quarter of the time of the
 * interpreted one, which zod still uses to report issues.
 */
export const Heartbeat = z.compile(
  z.looseObject({
    node_id: NodeId,
    cluster_id: ClusterId,
    sequence_number: z.number().int().min(1),
    timestamp: time,
    agent_version: z.string().max(64).nullish(),
    boot_epoch: z.number().int().min(0).nullish(),
    /** Measurement time of a heartbeat that is delivered late; `timestamp` is the time of sending. */
    measured_at: time.nullish(),
    capacity: Capacity,
    health: Health,
    latency: Latency.nullish(),
    jobs: Jobs.nullish(),
    services: Services.nullish(),
    accelerators: z.array(AcceleratorReport).max(512).nullish(),
    interfaces: z.array(Interface).max(256).nullish(),
    hardware_fingerprint: z.string().max(128).nullish(),
  }),
)
export type Heartbeat = z.infer<typeof Heartbeat>

/** Schema of `auth`. The signature does not cover its timestamp and nonce, so neither proves anything. */
export const AuthSchema = z.looseObject({
  signature: z.string().max(128),
  nonce: z.string().max(128).nullish(),
  timestamp: z.number().int().nullish(),
})
