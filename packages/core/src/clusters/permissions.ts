import { definePermissions } from '../kernel/permissions.ts'

export const slurmClusterPermissions = definePermissions('slurm:cluster', {
  write: ['admin', 'Add, change and remove Slurm clusters.'],
  refresh: ['operator', 'Read the state of Slurm clusters at once. In the whole tenant: test controllers, too.', 'perCluster'],
  report: ['worker', 'Record what a controller reported.'],
  schedule: ['system', 'Enqueue due refreshes, raise alerts about clusters, and fail tests and lookups of lost workers.'],
})
