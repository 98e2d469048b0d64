import { builder } from '../../builder.ts'
import { same } from '../shared/enum-values.ts'

export const SlurmClusterKind = builder.enumType('SlurmClusterKind', {
  description: 'Whether Muster or someone else installed a Slurm cluster.',
  values: same({
    EXTERNAL: 'It exists without Muster, which reads it and runs the commands that users ask for.',
    MANAGED: 'Muster installs and configures it.',
  }),
})

export const SlurmClusterState = builder.enumType('SlurmClusterState', {
  description: 'Whether the data of a Slurm cluster is current.',
  values: same({
    WAITING: 'The cluster has not been read yet.',
    OK: 'The last refresh succeeded.',
    NOT_ANSWERING: 'The last refresh failed. Nodes, jobs and partitions are those of `refreshedAt`.',
  }),
})

export const SlurmQueryState = builder.enumType('SlurmQueryState', {
  description: 'Result of a command on the host of a controller.',
  values: same({
    OK: 'Its output could be read.',
    FAILED: 'Failed; see its hint.',
    SKIPPED: 'Not run, because an earlier command failed.',
  }),
})

export const SlurmNodeMatch = builder.enumType('SlurmNodeMatch', {
  description: 'How a Slurm node was matched to a node of the inventory.',
  values: same({
    ADDRESS: 'NodeAddr is the host of the node.',
    HOSTNAME: 'NodeHostName is the host name of the node.',
    NAME: 'NodeName is the name of the node.',
    BOOT_TIME: 'Several nodes fit, and one of them booted when Slurm says.',
    MANUAL: 'A person chose it.',
  }),
})

export const SlurmNodeMatchState = builder.enumType('SlurmNodeMatchState', {
  description: 'Whether a Slurm node is a node of the inventory.',
  values: same({
    MATCHED: 'It is a node of the inventory.',
    UNMATCHED: 'No node of the inventory fits, or a person chose none.',
    CONFLICT: 'Several nodes fit, or the one that fits belongs to another cluster. A person must choose.',
  }),
})

export const SlurmNodeDifferenceKind = builder.enumType('SlurmNodeDifferenceKind', {
  description: 'Kind of a difference between what Slurm configures and what Muster discovered.',
  values: same({
    GPU_COUNT: 'Number of GPUs.',
    GPU_TYPE: 'Type of the GPUs.',
    GPU_HEALTH: 'Slurm offers a GPU that is lost or critical.',
    CPUS: 'Number of CPUs.',
    MEMORY: 'Slurm configures more memory than the node has.',
  }),
})
