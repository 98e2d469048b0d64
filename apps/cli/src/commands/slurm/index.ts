import { commandGroup } from '../../command.ts'
import { slurmJobActions } from './actions/jobs.ts'
import { slurmNodeActions } from './actions/nodes.ts'
import { slurmPartitionSetState } from './actions/partitions.ts'
import { slurmReservationCommands } from './actions/reservations.ts'
import { slurmJobGet } from './jobs/get.ts'
import { slurmJobHistory } from './jobs/history.ts'
import { slurmJobList } from './jobs/list.ts'
import { slurmJobPriority } from './jobs/priority.ts'
import { slurmNodeGet } from './nodes/get.ts'
import { slurmNodeList } from './nodes/list.ts'
import { slurmNodeMatch, slurmNodeUnmatch } from './nodes/match.ts'
import { slurmNodeOnboard } from './nodes/onboard.ts'
import { slurmPartitionGet, slurmPartitionList } from './partitions/partitions.ts'

export const slurm = () =>
  commandGroup('slurm', [
    commandGroup('node', [
      slurmNodeList(),
      slurmNodeGet(),
      slurmNodeMatch(),
      slurmNodeUnmatch(),
      slurmNodeOnboard(),
      ...slurmNodeActions(),
    ]).description('nodes of clusters, as Slurm reports them'),
    commandGroup('partition', [slurmPartitionList(), slurmPartitionGet(), slurmPartitionSetState()]).description(
      'partitions of clusters',
    ),
    commandGroup('job', [slurmJobList(), slurmJobGet(), slurmJobHistory(), slurmJobPriority(), ...slurmJobActions()]).description(
      'jobs of clusters',
    ),
    commandGroup('reservation', slurmReservationCommands()).description('reservations of clusters'),
  ])
