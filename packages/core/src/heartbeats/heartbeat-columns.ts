import type { Heartbeat } from '@muster/protocol'
import type { ReportedDrain } from './tables.ts'

/** What the hot row keeps of a heartbeat. */
export type Said = {
  health: string
  slurmState: string | null
  reportedDrain: ReportedDrain | null
  runningJobs: number | null
  cpuPercent: number | null
  memoryPercent: number | null
  gpusTotal: number | null
  gpusAvailable: number | null
  /** Devices that the node itself calls lost. */
  lostAccelerators: number
}

export function heartbeatColumns({ health, capacity, jobs, accelerators }: Heartbeat): Said {
  return {
    health: health.status,
    slurmState: health.slurm_state ?? null,
    reportedDrain: drainOf(health.status, health.slurm_state ?? null, jobs?.running_count ?? null),
    runningJobs: jobs?.running_count ?? null,
    cpuPercent: asReal(health.cpu_utilization_percent),
    memoryPercent: asReal(health.memory_utilization_percent),
    gpusTotal: capacity.gpus_total ?? null,
    gpusAvailable: capacity.gpus_available ?? null,
    lostAccelerators: accelerators?.filter((each) => each.health === 'lost').length ?? 0,
  }
}

/** As the column keeps it: what is too small for that is 0, and no error. */
function asReal(number: number | null | undefined): number | null {
  return number == null ? null : Math.fround(number)
}

/**
 * Slurm writes it as sinfo does (`draining`, `drng`, `drain`, `drained`, with `*` or `@` behind) or as scontrol (`IDLE+DRAIN`,
 * `MIXED+DRAIN`): drained is what has the flag and no job.
 */
function drainOf(status: string, slurmState: string | null, runningJobs: number | null): ReportedDrain | null {
  const words = (slurmState ?? '')
    .toLowerCase()
    .replace(/[*~#!%$@^-]+$/, '')
    .split('+')
  if (words.some((word) => word === 'draining' || word === 'drng')) return 'DRAINING'
  if (words.includes('drained')) return 'DRAINED'
  const isBusy = words.some((word) => /^(mix|alloc|comp)/.test(word)) || (runningJobs ?? 0) > 0
  if (words.includes('drain')) return isBusy ? 'DRAINING' : 'DRAINED'
  return status === 'draining' ? 'DRAINING' : null
}
