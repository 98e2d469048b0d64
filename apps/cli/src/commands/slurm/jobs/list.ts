import { request } from '../../../client.ts'
import { Command, type Output } from '../../../command.ts'
import { graphql } from '../../../graphql.ts'
import { commaList, integer } from '../../../options.ts'
import { ago, printRows } from '../../../output.ts'
import { fetchAll } from '../../../pages.ts'
import { givenCluster, printOrWatch, warnIfOld, withCluster, withWatch } from '../../clusters/find-cluster.ts'

const LIST = graphql(`query SlurmJobList($id: ID!, $filter: SlurmJobFilter, $first: Int, $after: String) {
  slurmCluster(id: $id) {
    name state refreshedAt failingSince lastError
    jobs(filter: $filter, first: $first, after: $after) {
      edges { node { id jobId name user account partition qos state states reason reasonDetail priority submittedAt startAt endAt timeLimitMinutes isTimeUnlimited nodeList nodeCount cpus gres { name type count } } }
      pageInfo { hasNextPage endCursor }
    }
  }
}`)
type Options = Output & {
  cluster?: string
  state?: string[]
  user?: string[]
  partition?: string[]
  reason?: string[]
  node?: string
  text?: string
  number?: number
  watch?: boolean
}

export const slurmJobList = () =>
  withWatch(
    withCluster(
      new Command('list')
        .description('list the jobs of a cluster, newest first')
        .option('--state <states>', "jobs in any of these states, in Slurm's words, separated by commas", commaList)
        .option('--user <users>', 'jobs of any of these users, separated by commas', commaList)
        .option('--partition <names>', 'jobs in any of these partitions, separated by commas', commaList)
        .option('--reason <reasons>', "jobs with any of these reasons, in Slurm's words, separated by commas", commaList)
        .option('--node <hostlist>', 'jobs on any of these nodes')
        .option('--text <text>', 'jobs with this text in ID, name, user or account')
        .option('-n, --number <n>', 'maximum number of rows', integer),
    ),
  )
    .withOutput()
    .action(async ({ cluster, watch, number, ...options }: Options) => {
      const id = await givenCluster(cluster === undefined ? {} : { cluster })
      const { state, user, partition, reason, node, text } = options
      const filter = {
        ...(state ? { state } : {}),
        ...(user ? { user } : {}),
        ...(partition ? { partition } : {}),
        ...(reason ? { reason } : {}),
        ...(node === undefined ? {} : { node }),
        ...(text ? { search: text } : {}),
      }
      await printOrWatch(id, { watch: watch ?? false }, async () => {
        const rows = await fetchAll(async (page) => {
          const { slurmCluster } = await request(LIST, { id, filter, ...page })
          if (slurmCluster && page.after === null) warnIfOld(slurmCluster)
          return slurmCluster?.jobs
        }, number)
        printRows(
          rows,
          [
            { title: 'JOBID', value: (j) => j.jobId },
            { title: 'STATE', value: (j) => j.states.join('+') },
            { title: 'USER', value: (j) => j.user },
            { title: 'PARTITION', value: (j) => j.partition },
            { title: 'NAME', value: (j) => j.name },
            { title: 'NODES', value: (j) => j.nodeList || j.nodeCount },
            { title: 'CPUS', value: (j) => j.cpus },
            { title: 'GRES', value: (j) => j.gres.map((g) => `${g.count} ${g.type ?? g.name}`).join(', ') },
            { title: 'REASON', value: (j) => (j.state === 'PENDING' ? (j.reasonDetail ?? j.reason) : j.reason) },
            { title: 'SUBMITTED', value: (j) => ago(j.submittedAt), wide: true },
            { title: 'ACCOUNT', value: (j) => j.account, wide: true },
            { title: 'QOS', value: (j) => j.qos, wide: true },
            { title: 'PRIORITY', value: (j) => j.priority, wide: true },
          ],
          options,
          Object.keys(filter).length > 0 ? 'No jobs match these filters.' : 'The cluster has no jobs.',
        )
      })
    })
