import { z } from 'zod'

const DAY_S = 86_400

const flag = z
  .boolean()
  .nullish()
  .transform((value) => value ?? false)
const count = (min: number, max: number, preset: number) =>
  z
    .int()
    .min(min)
    .max(max)
    .nullish()
    .transform((value) => value ?? preset)

/** How a run takes nodes of a Slurm cluster out of service. */
export const SlurmRunInput = z.object({
  /** Nodes that are out of service at the same time. */
  batchSize: count(1, 1000, 1),
  /** How long a batch waits for the jobs on its nodes, and for capacity. */
  deadlineSeconds: count(0, 30 * DAY_S, DAY_S),
  /** Percentage of the nodes of each partition that stay in service. */
  floorPercent: count(0, 100, 50),
  /** How long nodes may take to register and be healthy after the playbook. */
  healthSeconds: count(0, DAY_S, 300),
  /** Drain nodes of other reservations than those for maintenance, too. */
  includeReserved: flag,
  /** Drain nodes only during a reservation for maintenance. */
  maintenanceOnly: flag,
})
export type SlurmRunOptions = z.output<typeof SlurmRunInput>

/** As stored on the run. */
export type SlurmRun = SlurmRunOptions & {
  clusterId: string
  clusterName: string
  /** What it waits for; null when nothing. */
  waitsFor: string | null
}
