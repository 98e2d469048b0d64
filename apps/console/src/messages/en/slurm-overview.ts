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
    noPartition: 'No cluster with current data has such a partition.',
    noStart: 'No start',
    nodes: 'Nodes',
    nodesInService: 'Nodes in service',
    notCurrent: '{count, plural, one {# without current data} other {# without current data}}',
    otherPartitions: '{count, plural, one {# other partition} other {# other partitions}}',
    pending: 'Pending jobs',
    running: 'Running jobs',
    skipped:
      '{count, plural, one {Not considered, because its data is not current: {names}} other {Not considered, because their data is not current: {names}}}',
    startText:
      'An estimate by priorities and time limits of the queue. Backfill, fair share, limits of users, licenses and topology are not considered.',
    startTitle: 'Where would a job start first?',
    starts: 'Estimated starts',
    startsIn: 'In {time}',
    startsNow: 'Now',
    title: 'Slurm overview',
    whyLater:
      '{jobs, plural, =0 {When running jobs end, on} one {When running jobs end, after # pending job, on} other {When running jobs end, after # pending jobs, on}}',
    whyNow:
      '{jobs, plural, =0 {Enough is free on} one {Enough is free besides # pending job on} other {Enough is free besides # pending jobs on}}',
  },
} as const
