import { definePermissions } from '../kernel/permissions.ts'

export const slurmConfigPermissions = definePermissions('slurm:config', {
  check: ['operator', 'Compare the configuration of Slurm clusters with the files on their hosts.', 'perCluster'],
  write: ['admin', 'Import, change, roll out and roll back the configuration of Slurm clusters.', 'perCluster'],
  report: ['worker', 'Record what the hosts of Slurm clusters have.'],
})
