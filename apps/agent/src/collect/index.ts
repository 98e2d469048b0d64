import { availableParallelism } from 'node:os'
import type { Heartbeat } from '@muster/protocol'
import type { Config } from '../config.ts'
import { max, percent, sum } from '../files.ts'
import { hardwareFingerprint } from '../fingerprint.ts'
import { createAcceleratorReader } from './accelerators.ts'
import { HostReader } from './host.ts'
import { readInterfaces } from './interfaces.ts'
import { KernelLog } from './kernel-log.ts'
import { defaultGateway, measureLatency, parseTarget } from './latency.ts'
import { cpuTemperature, memoryErrors } from './sensors.ts'
import { ServiceReader } from './services.ts'
import { createSlurmReader, type Slurm } from './slurm.ts'

/** Measured part of a heartbeat, without identity and time of sending. */
export type Measurements = Pick<
  Heartbeat,
  'capacity' | 'health' | 'latency' | 'jobs' | 'services' | 'accelerators' | 'interfaces' | 'hardware_fingerprint'
>

/** Creates a function that measures this node. Unknown values are null. */
export function createCollector(config: Config, clusterId: string): (agentProblems?: string[]) => Promise<Measurements> {
  const root = config.hostRoot
  const host = new HostReader(root, config.storagePath)
  const kernelLog = new KernelLog(`${root}/dev/kmsg`)
  const services = new ServiceReader(root)
  const slurm = createSlurmReader(root, config.slurmNodeName)
  const accelerators = createAcceleratorReader(root)
  const targets = config.latencyTargets.slice(0, 64).map((name) => parseTarget(name, config.latencyPort))
  const fingerprint = hardwareFingerprint(root, clusterId)
  return async (agentProblems = []) => {
    const gateway = defaultGateway(root)
    const [scheduler, devices, serviceStates, latency] = await Promise.all([
      slurm(),
      accelerators(),
      services.read(),
      measureLatency(targets, gateway ? { name: gateway, host: gateway, port: config.gatewayPort } : null),
    ])
    const { cores, memory, storage, health: hostHealth } = host.read()
    const health = {
      ...hostHealth,
      gpu_utilization_percent: mean(devices?.map((device) => device.utilization_percent)),
      gpu_memory_utilization_percent: share(devices, 'memory_used_bytes', 'memory_total_bytes'),
      temperature_celsius: cpuTemperature(root),
      gpu_temperature_celsius: max(devices?.map((device) => device.temperature_celsius) ?? []),
      ...kernelLog.read(new Date(), hostHealth.uptime_seconds),
      slurm_state: scheduler?.state ?? null,
      ...memoryErrors(root),
    }
    const { status, reasons } = evaluateHealth({
      scheduler,
      devices,
      storage,
      services: serviceStates,
      memoryUncorrected: health.memory_ecc_uncorrected,
      agentProblems,
    })
    const gpus = devices?.length ?? 0
    return {
      capacity: {
        cpu_cores_total: cores ?? availableParallelism(),
        ...allocation('cpu_cores', cores, scheduler?.cpusAllocated ?? null),
        memory_gb_total: memory?.total ?? null,
        memory_gb_available: memory?.available ?? null,
        memory_gb_allocated: scheduler?.memoryAllocatedMb == null ? null : Math.round(scheduler.memoryAllocatedMb / 1024),
        gpus_total: gpus,
        ...(devices ? allocation('gpus', gpus, scheduler?.gpusAllocated ?? null) : { gpus_available: 0, gpus_allocated: 0 }),
        gpu_type: devices?.find(({ model }) => model)?.model ?? null,
        storage_gb_total: storage?.total ?? null,
        storage_gb_available: storage?.available ?? null,
        storage_gb_allocated: storage?.allocated ?? null,
      },
      health: { status, ...health, ...(reasons.length ? { reasons } : {}) },
      latency,
      jobs: summarizeJobs(scheduler, services),
      services: serviceStates,
      ...(devices ? { accelerators: devices } : {}),
      interfaces: readInterfaces(root),
      hardware_fingerprint: fingerprint,
    }
  }
}

/** Only the scheduler knows what is allocated, and so what is available. */
function allocation<R extends 'cpu_cores' | 'gpus'>(resource: R, total: number | null, allocated: number | null) {
  const available = total === null || allocated === null ? null : Math.max(0, total - allocated)
  return { [`${resource}_available`]: available, [`${resource}_allocated`]: allocated } as Record<
    `${R}_available` | `${R}_allocated`,
    number | null
  >
}

const INACTIVE = /^(PENDING|COMPLETED|FAILED|CANCELLED|TIMEOUT|NODE_FAIL|PREEMPTED|BOOT_FAIL|DEADLINE|OUT_OF_MEMORY|REVOKED)$/

/** Jobs of this node; null where Slurm did not report them. A node that is not in Slurm has none, which completes its drain. */
function summarizeJobs(scheduler: Slurm | null, services: ServiceReader) {
  const jobs = scheduler?.jobs ?? (scheduler?.state || services.runsSlurmJobs() ? null : [])
  const active = jobs?.filter(({ state }) => !INACTIVE.test(state)) ?? null
  return {
    running_count: active?.length ?? null,
    pending_count: scheduler?.pendingJobs ?? null,
    completed_24h: scheduler?.ended?.completed ?? null,
    failed_24h: scheduler?.ended?.failed ?? null,
    active_job_ids: active?.map(({ id }) => id).slice(0, 1024) ?? null,
  }
}

type HealthInputs = {
  scheduler: Slurm | null
  devices: { index: number | null; pci_address: string | null; health: string; health_reason: string | null }[] | null
  storage: { free: number | null } | null
  services: { slurmd_running: boolean | null; munge_running: boolean | null }
  memoryUncorrected: number | null
  agentProblems: string[]
}

/** Overall status: the most severe finding, with all reasons. */
function evaluateHealth({ scheduler, devices, storage, services, memoryUncorrected, agentProblems }: HealthInputs) {
  const failedDevices = devices?.filter(({ health }) => health === 'lost' || health === 'critical') ?? []
  const degradedDevices = devices?.filter(({ health }) => health === 'warning') ?? []
  const describe = (device: (typeof failedDevices)[number]) =>
    `accelerator ${device.index ?? device.pci_address ?? '?'}: ${device.health_reason ?? device.health}`
  const unhealthy = [
    ...failedDevices.map(describe),
    ...(services.slurmd_running === false ? ['slurmd is not running'] : []),
    ...(services.munge_running === false ? ['munged is not running'] : []),
    ...(scheduler?.state && /DOWN|FAIL|NOT_RESPONDING|\*/.test(scheduler.state) ? [`Slurm state is ${scheduler.state}`] : []),
  ]
  const degraded = [
    ...degradedDevices.map(describe),
    ...(memoryUncorrected ? [`${memoryUncorrected} uncorrected memory errors`] : []),
    ...(storage?.free != null && storage.free < 5 ? [`only ${storage.free} % of the storage is free`] : []),
    ...agentProblems,
  ]
  const isDraining = /DRAIN/.test(scheduler?.state ?? '')
  const status = unhealthy.length ? 'unhealthy' : isDraining ? 'draining' : degraded.length ? 'degraded' : 'healthy'
  return { status, reasons: [...unhealthy, ...degraded].map((reason) => reason.slice(0, 500)).slice(0, 32) } as const
}

function mean(values: (number | null)[] | undefined): number | null {
  const known = values?.filter((value) => value !== null) ?? []
  return known.length ? Math.round((known.reduce((a, b) => a + b, 0) / known.length) * 10) / 10 : null
}

function share<K extends string>(devices: Record<K, number | null>[] | null, part: K, whole: K): number | null {
  const known = devices?.filter((device) => device[part] !== null && device[whole] !== null) ?? []
  return percent(sum(known.map((device) => device[part])) ?? 0, sum(known.map((device) => device[whole])) ?? 0)
}
