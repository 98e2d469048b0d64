import { Command, type Output } from '../../../command.ts'
import { CliError, EXIT } from '../../../errors.ts'
import { isTable, printObject, printRows } from '../../../output.ts'
import { givenCluster, withCluster } from '../../clusters/find-cluster.ts'
import { lookUpPriority } from './look-up.ts'

export const slurmJobPriority = () =>
  withCluster(
    new Command('priority')
      .description('show the priority factors of a pending job, and the fair share of its user and account')
      .argument('<id>', 'as squeue shows it: 15 or 3_1'),
  )
    .withOutput()
    .action(async (jobId: string, { cluster, ...output }: Output & { cluster?: string }) => {
      const clusterId = await givenCluster(cluster === undefined ? {} : { cluster })
      const { priorities, shares } = await lookUpPriority({ clusterId, jobId })
      if (priorities.length === 0)
        throw new CliError(`Job ${jobId} is no longer pending, or its cluster computes no priority factors.`, EXIT.rejected)
      if (!isTable(output)) return printObject({ priorities, shares }, output)
      const number = (value: number | null) => (value === null ? null : String(Number(value.toPrecision(4))))
      printRows(
        priorities.flatMap(({ partition, priority, factors }) => [
          { partition, factor: 'PRIORITY', points: priority, value: null },
          ...factors
            .filter(({ points, value }) => points !== 0 || value)
            .map(({ factor, resource, points, value }) => ({
              partition,
              factor: resource ? `${factor} ${resource}` : factor,
              points,
              value,
            })),
        ]),
        [
          { title: 'PARTITION', value: (f) => f.partition },
          { title: 'FACTOR', value: (f) => f.factor },
          { title: 'POINTS', value: (f) => f.points },
          { title: 'VALUE', value: (f) => number(f.value) },
        ],
        output,
      )
      if (shares.length === 0) return
      process.stdout.write('\n')
      printRows(
        shares,
        [
          { title: 'ACCOUNT', value: (s) => s.account },
          { title: 'USER', value: (s) => s.user },
          { title: 'SHARES', value: (s) => (s.isParent ? 'parent' : s.shares) },
          { title: 'NORMSHARES', value: (s) => number(s.normalizedShares) },
          { title: 'USAGE', value: (s) => number(s.usage) },
          { title: 'EFFECTIVE', value: (s) => number(s.effectiveUsage) },
          { title: 'FAIRSHARE', value: (s) => number(s.fairShare) },
        ],
        output,
      )
    })
