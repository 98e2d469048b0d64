import { request } from '../../../client.ts'
import { Command, type Output } from '../../../command.ts'
import { CliError, EXIT } from '../../../errors.ts'
import { graphql } from '../../../graphql.ts'
import { printObject, shellQuote } from '../../../output.ts'
import { givenCluster, printOrWatch, warnIfOld, withCluster, withWatch } from '../../clusters/find-cluster.ts'

const GET = graphql(`query SlurmJobGet($id: ID!, $jobId: [String!]) {
  slurmCluster(id: $id) {
    name state refreshedAt failingSince lastError
    jobs(filter: { jobId: $jobId }) {
      edges { node { id jobId name user account partition qos state states reason reasonDetail priority submittedAt startAt endAt timeLimitMinutes isTimeUnlimited nodeList nodeCount cpus
        gres { name type count } tres { name amount } licenses dependency reservation comment workingDirectory exitCode exitSignal } }
    }
  }
}`)

export const slurmJobGet = () =>
  withWatch(
    withCluster(new Command('get').description('show a job of a cluster').argument('<id>', 'as squeue shows it: 15 or 3_1')),
  )
    .withOutput()
    .action(async (jobId: string, options: Output & { cluster?: string; watch?: boolean }) => {
      const id = await givenCluster(options)
      await printOrWatch(id, options, async () => {
        const { slurmCluster: cluster } = await request(GET, { id, jobId: [jobId] })
        const job = cluster?.jobs.edges[0]?.node
        if (!cluster || !job)
          throw new CliError(
            `No job ${jobId} in the queue of ${cluster?.name}. If it has ended, see \`muster slurm job history ${shellQuote(jobId)}\`.`,
            EXIT.notFound,
          )
        warnIfOld(cluster)
        printObject(job, options, [
          ['job', job.jobId],
          ['name', job.name],
          ['state', job.states.join('+')],
          ['reason', job.reasonDetail ?? job.reason],
          ['user', job.user],
          ['account', job.account],
          ['partition', job.partition],
          ['qos', job.qos],
          ['priority', job.priority],
          ['submitted', job.submittedAt],
          [job.state === 'PENDING' ? 'expected start' : 'start', job.startAt],
          ['end', job.endAt],
          ['time limit', job.isTimeUnlimited ? 'unlimited' : job.timeLimitMinutes && `${job.timeLimitMinutes} min`],
          ['nodes', job.nodeList || job.nodeCount],
          ['cpus', job.cpus],
          ['gres', job.gres.map((g) => `${g.count} ${g.type ?? g.name}`).join(', ')],
          ['tres', job.tres.map(({ name, amount }) => `${name}=${amount}${name === 'mem' ? 'M' : ''}`).join(',')],
          ['licenses', job.licenses],
          ['dependency', job.dependency],
          ['reservation', job.reservation],
          ['directory', job.workingDirectory],
          ['comment', job.comment],
          ['exit code', job.exitCode === null ? null : `${job.exitCode}, signal ${job.exitSignal}`],
        ])
      })
    })
