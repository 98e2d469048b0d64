import { defineQueue } from '../kernel/queue.ts'

/** The entry's `id` is the operation. */
export const slurmOperationQueue = defineQueue('slurm-operation')
