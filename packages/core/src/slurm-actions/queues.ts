import { defineQueue } from '../kernel/queue.ts'

/** The entry's `id` is the action. */
export const slurmActionQueue = defineQueue('slurm-action')
