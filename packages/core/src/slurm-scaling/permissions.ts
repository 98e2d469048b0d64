import { definePermissions } from '../kernel/permissions.ts'

export const slurmScalePermissions = definePermissions('slurm:scale', {
  nodes: ['admin', 'Create Slurm clusters from nodes, add nodes to them and remove nodes from them.', 'perCluster'],
  report: ['worker', 'Prepare the group of a managed cluster and store its configuration.'],
  schedule: ['system', 'Fail checks of nodes that lost their worker.'],
})
