import { defineMessages } from '../../kernel/messages.ts'

/** Why an operation, or a node in it, failed. */
export const slurmOperationMessages = defineMessages('slurmOperation', {
  topologyYaml:
    'The controller reads {file}, which Muster does not change, so nodes cannot be added or removed. Describe the switches in topology.conf with TopologyPlugin=topology/tree, roll it out, and remove topology.yaml.',
  noNodeLeft: 'No node is left. {reason}',
  noConfiguration: 'The cluster {name} has no configuration. Create it first.',
  runCanceled: 'The job run {number} was canceled.',
  runDeleted: 'The job run was deleted.',
  jobsAgain: 'Jobs run on {nodes} again. Start the scale-in again.',
  slurmStays: 'Jobs run on {nodes}, so Slurm stays. Scale in, or release the cluster.',
  notRemoved: 'Slurm could not be removed from {nodes}.',
  staysDrained: 'Jobs run on it, so it stays in the cluster, drained. Remove it with a scale-in.',
  programsFailed: 'The programs could not be installed. {reason}',
  suspendsRun: 'The power runs that suspend nodes have not ended. Check that a worker runs, and turn power saving off again.',
  unhealthy: 'Slurm does not work with the new files: {problem}',
})
