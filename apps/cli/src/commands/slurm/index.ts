import { commandGroup } from '../../command.ts'
import { slurmJobGet } from './jobs/get.ts'
import { slurmJobList } from './jobs/list.ts'
import { slurmNodeGet } from './nodes/get.ts'
import { slurmNodeList } from './nodes/list.ts'
import { slurmNodeMatch, slurmNodeUnmatch } from './nodes/match.ts'
import { slurmPartitionGet, slurmPartitionList } from './partitions/partitions.ts'

export const slurm = () =>
  commandGroup('slurm', [
    commandGroup('node', [slurmNodeList(), slurmNodeGet(), slurmNodeMatch(), slurmNodeUnmatch()]).description(
      'nodes of clusters, as Slurm reports them',
    ),
    commandGroup('partition', [slurmPartitionList(), slurmPartitionGet()]).description('partitions of clusters'),
    commandGroup('job', [slurmJobList(), slurmJobGet()]).description('jobs of clusters'),
  ])
