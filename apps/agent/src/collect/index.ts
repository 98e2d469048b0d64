import { availableParallelism } from 'node:os'
import type { Heartbeat } from '@muster/protocol'
import type { Config } from '../config.ts'
import { max, percent, sum } from '../files.ts'
import { fingerprint } from '../fingerprint.ts'
import { acceleratorReader } from './accelerators.ts'
import { Host } from './host.ts'
import { KernelLog } from './kernel-log.ts'
import { gateway, latency, target } from './latency.ts'
import { links } from './links.ts'
import { cpuTemperature, memoryErrors } from './sensors.ts'
import { Services } from './services.ts'
import { type Slurm, slurmReader } from './slurm.ts'

/** All of a beat that is measured: what it is called and when it is sent comes later. */
export type Measured = Pick<
  Heartbeat,
  'capacity' | 'health' | 'latency' | 'jobs' | 'services' | 'accelerators' | 'interfaces' | 'hardware_fingerprint'
>

/** Looks at this node. What cannot be known is null. */
export function collector(config: Config, clusterId: string): (ownProblems?: string[]) => Promise<Measured> {
  const root = config.hostRoot
  const host = new Host(root, config.storagePath)
  const kernelLog = new KernelLog(`${root}/dev/kmsg`)
  const services = new Services(root)
  const slurm = slurmReader(root, config.slurmNodeName)
  const accelerators = acceleratorReader(root)
  const targets = config.latencyTargets.slice(0, 64).map((name) => target(name, config.latencyPort))
  const hardware = fingerprint(root, clusterId)
  return async (ownProblems = []) => {
    const router = gateway(root)
    const [scheduler, devices, running, latencies] = await Promise.all([
      slurm(),
      accelerators(),
      services.read(),
      latency(targets, router ? target(router, config.gatewayPort) : null),
    ])
    const { cores, memory, storage, health: busy } = host.read()
    const health = {
      ...busy,
      gpu_utilization_percent: mean(devices?.map((device) => device.utilization_percent)),
      gpu_memory_utilization_percent: share(devices, 'memory_used_bytes', 'memory_total_bytes'),
      temperature_celsius: cpuTemperature(root),
      gpu_temperature_celsius: max(devices?.map((device) => device.temperature_celsius) ?? []),
      ...kernelLog.read(new Date(), busy.uptime_seconds),
      slurm_state: scheduler?.state ?? null,
      ...memoryErrors(root),
    }
    const { status, reasons } = judge({
      scheduler,
      devices,
      storage,
      running,
      memoryUncorrected: health.memory_ecc_uncorrected,
      ownProblems,
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
      latency: latencies,
      jobs: jobs(scheduler),
      services: running,
      ...(devices ? { accelerators: devices } : {}),
      interfaces: links(root),
      hardware_fingerprint: hardware,
    }
  }
}

/** Without a scheduler nobody knows what is allocated, and so what is left. */
function allocation<R extends 'cpu_cores' | 'gpus'>(resource: R, total: number | null, allocated: number | null) {
  const available = total === null || allocated === null ? null : Math.max(0, total - allocated)
  return { [`${resource}_available`]: available, [`${resource}_allocated`]: allocated } as Record<
    `${R}_available` | `${R}_allocated`,
    number | null
  >
}

const ENDED = /^(PENDING|COMPLETED|FAILED|CANCELLED|TIMEOUT|NODE_FAIL|PREEMPTED|BOOT_FAIL|DEADLINE|OUT_OF_MEMORY|REVOKED)$/

/** This node's jobs only. How many ended within a day only the accounting knows, which is not asked. */
function jobs(scheduler: Slurm | null) {
  const all = scheduler?.jobs ?? null
  const here = all?.filter(({ state }) => !ENDED.test(state)) ?? null
  return {
    running_count: here?.length ?? null,
    pending_count: all?.filter(({ state }) => state === 'PENDING').length ?? null,
    completed_24h: null,
    failed_24h: null,
    active_job_ids: here?.map(({ id }) => id).slice(0, 1024) ?? null,
  }
}

type Seen = {
  scheduler: Slurm | null
  devices: { index: number | null; pci_address: string | null; health: string; health_reason: string | null }[] | null
  storage: { free: number | null } | null
  running: { slurmd_running: boolean | null; munge_running: boolean | null }
  memoryUncorrected: number | null
  ownProblems: string[]
}

/** The worst of what is wrong, and all of it in words. */
function judge({ scheduler, devices, storage, running, memoryUncorrected, ownProblems }: Seen) {
  const broken = devices?.filter(({ health }) => health === 'lost' || health === 'critical') ?? []
  const worn = devices?.filter(({ health }) => health === 'warning') ?? []
  const say = (device: (typeof broken)[number]) =>
    `accelerator ${device.index ?? device.pci_address ?? '?'}: ${device.health_reason ?? device.health}`
  const unhealthy = [
    ...broken.map(say),
    ...(running.slurmd_running === false ? ['slurmd does not run'] : []),
    ...(running.munge_running === false ? ['munged does not run'] : []),
    ...(scheduler?.state && /DOWN|FAIL|NOT_RESPONDING|\*/.test(scheduler.state) ? [`Slurm says ${scheduler.state}`] : []),
  ]
  const degraded = [
    ...worn.map(say),
    ...(memoryUncorrected ? [`${memoryUncorrected} uncorrected memory errors`] : []),
    ...(storage?.free != null && storage.free < 5 ? [`${storage.free} % of the storage is left`] : []),
    ...ownProblems,
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
