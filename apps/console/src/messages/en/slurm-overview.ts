/** Texts about all Slurm clusters together. */
export const slurmOverview = {
  slurmOverview: {
    anyGpu: 'Any type',
    byRegion: 'Clusters by region',
    clusterCount: '{count, plural, one {# cluster} other {# clusters}}',
    clusters: 'Clusters',
    cpus: 'CPUs per node',
    estimate: 'Estimate start',
    gpuType: 'GPU type',
    gpus: 'GPUs per node',
    idle: '{count, number} idle',
    idleGpus: 'Idle GPUs by model',
    inService: '{inService} of {total} in service',
    memory: 'Memory per node (GiB)',
    moreClusters: '{count, plural, one {and # more cluster} other {and # more clusters}}',
    noPartition: 'No partition of a cluster with current data fits this job.',
    noStart: 'Cannot start',
    nodes: 'Nodes',
    nodesInService: 'Nodes in service',
    notCurrent: '{count, plural, one {# with outdated data} other {# with outdated data}}',
    otherPartitions: '{count, plural, one {# other partition} other {# other partitions}}',
    pending: 'Pending jobs',
    running: 'Running jobs',
    skipped: 'Outdated data, not included: {names}',
    startText:
      'An estimate by priorities and time limits of the queue. Backfill, fair share, limits of users, licenses and topology are not considered.',
    startTitle: 'Where would a job start first?',
    starts: 'Estimated starts',
    startsIn: 'In {time}',
    startsNow: 'Now',
    title: 'Slurm overview',
    whyLater:
      '{jobs, plural, =0 {When enough resources become free on} one {When enough resources become free, after # pending job is placed, on} other {When enough resources become free, after # pending jobs are placed, on}}',
    whyNow:
      '{jobs, plural, =0 {Enough free resources on} one {Enough free resources after # pending job on} other {Enough free resources after # pending jobs on}}',
  },
} as const
