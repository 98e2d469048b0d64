import { definePermissions } from '../kernel/permissions.ts'

export const slurmPowerPermissions = definePermissions('slurm:power', {
  write: ['admin', 'Let the controllers of managed Slurm clusters power their nodes on and off.', 'perCluster'],
  report: ['worker', 'Set up power saving on the controllers of Slurm clusters.'],
  request: ['system', 'Power nodes of Slurm clusters on and off for their controllers.'],
})
