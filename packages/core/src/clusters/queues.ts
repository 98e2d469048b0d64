import { defineQueue } from '../kernel/queue.ts'

/** The entry's `id` is the cluster. */
export const slurmRefreshQueue = defineQueue('slurm-refresh')
/** The entry's `id` is the test. */
export const slurmClusterTestQueue = defineQueue('slurm-cluster-test')
/** The entry's `id` is the lookup. */
export const slurmLookupQueue = defineQueue('slurm-lookup')
