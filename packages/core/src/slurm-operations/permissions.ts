import { definePermissions } from '../kernel/permissions.ts'

export const slurmOperationPermissions = definePermissions('slurm:operation', {
  cancel: ['admin', 'Cancel operations on Slurm clusters, which undoes them.', 'perCluster'],
  report: ['worker', 'Record the progress of operations on Slurm clusters.'],
  schedule: ['system', 'Enqueue operations of lost workers again.'],
})
