import { defineQueue } from '../kernel/queue.ts'

/** The entry's `id` is the check. */
export const slurmReadinessQueue = defineQueue('slurm-readiness')
