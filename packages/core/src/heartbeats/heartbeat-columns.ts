import type { Heartbeat } from '@muster/protocol'
import type { ReportedDrain } from './tables.ts'

/** Columns of a heartbeat in `agent_heartbeats`. */
type HeartbeatColumns = {
  health: string
  slurmState: string | null
  reportedDrain: ReportedDrain | null
  runningJobs: number | null
  cpuPercent: number | null
  memoryPercent: number | null
  gpusTotal: number | null
  gpusAvailable: number | null
  /** Devices that the node reports as lost. */
  lostAccelerators: number
}

const MAX_SLURM_STATE = 255

export function heartbeatColumns({ health, capacity, jobs, accelerators }: Heartbeat): HeartbeatColumns {
  // `sinfo` prints a line for each partition of the node.
  const slurmStates = [...new Set((health.slurm_state ?? '').split(/[\s,]+/).filter(Boolean))]
  return {
    health: health.status,
    slurmState: slurmStates.join(', ').slice(0, MAX_SLURM_STATE) || null,
    reportedDrain: drainOf(health.status, slurmStates, jobs?.running_count ?? null),
    runningJobs: jobs?.running_count ?? null,
    cpuPercent: asReal(health.cpu_utilization_percent),
    memoryPercent: asReal(health.memory_utilization_percent),
    gpusTotal: capacity.gpus_total ?? null,
    gpusAvailable: capacity.gpus_available ?? null,
    lostAccelerators: accelerators?.filter((each) => each.health === 'lost').length ?? 0,
  }
}

/** Rounds to the column's precision: Postgres rejects numbers too small for `real`, so these become 0. */
function asReal(number: number | null | undefined): number | null {
  return number == null ? null : Math.fround(number)
}

/**
 * Parses Slurm's drain state, one word per partition, in the format of sinfo (`draining`, `drng`, `drain`, `drained`, with a suffix such as `*`) or scontrol
 * (`IDLE+DRAIN`, `MIXED+DRAIN`). A node with the flag and without jobs is drained.
 */
function drainOf(status: string, slurmStates: readonly string[], runningJobs: number | null): ReportedDrain | null {
  const words = slurmStates.flatMap((state) => state.toLowerCase().split('+')).map((word) => word.replace(/[*~#!%$@^-]+$/, ''))
  if (words.some((word) => word === 'draining' || word === 'drng')) return 'DRAINING'
  const isBusy = words.some((word) => /^(mix|alloc|comp)/.test(word)) || (runningJobs ?? 0) > 0
  if (words.includes('drained') || words.includes('drain')) return isBusy ? 'DRAINING' : 'DRAINED'
  return status === 'draining' ? 'DRAINING' : null
}
