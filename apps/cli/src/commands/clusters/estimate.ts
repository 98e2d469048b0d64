import { request } from '../../client.ts'
import { Command, type Output } from '../../command.ts'
import { orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { integer } from '../../options.ts'
import { printRows } from '../../output.ts'

const ESTIMATE = graphql(`query ClusterEstimate($input: SlurmStartInput!) {
  slurmStartEstimates(input: $input) {
    __typename
    ... on SlurmStartEstimates { estimates { partition startAt nodeList jobsAhead blockedReason cluster { name } } }
    ... on Error { code message }
    ... on InvalidInputError { issues { path message } }
  }
}`)
const GIB = 1024 ** 3
type Options = Output & {
  nodeCount?: number
  cpus: number
  memory?: number
  gpus?: number
  gpuType?: string
  time: number
  partition?: string
}

export const clusterEstimate = () =>
  new Command('estimate')
    .description('estimate in which cluster and partition a job would start first')
    .requiredOption('--cpus <n>', 'CPUs per node', integer)
    .requiredOption('--time <minutes>', 'time limit', integer)
    .option('--node-count <n>', 'number of nodes (default: 1)', integer)
    .option('--memory <gib>', 'memory per node in GiB', integer)
    .option('--gpus <n>', 'GPUs per node', integer)
    .option('--gpu-type <type>', 'type of the GPUs as Slurm names it')
    .option('--partition <name>', 'only partitions with this name')
    .withOutput()
    .action(async ({ nodeCount, cpus, memory, gpus, gpuType, time, partition, ...output }: Options) => {
      const input = {
        cpus,
        timeLimitMinutes: time,
        ...(nodeCount === undefined ? {} : { nodes: nodeCount }),
        ...(memory === undefined ? {} : { memoryBytes: memory * GIB }),
        ...(gpus === undefined ? {} : { gpus }),
        ...(gpuType === undefined ? {} : { gpuType }),
        ...(partition === undefined ? {} : { partition }),
      }
      const { slurmStartEstimates } = await request(ESTIMATE, { input })
      const { estimates } = orThrow(slurmStartEstimates)
      printRows(
        estimates,
        [
          { title: 'START (ESTIMATE)', value: (e) => (e.startAt ? startOf(e.startAt) : 'unknown') },
          { title: 'CLUSTER', value: (e) => e.cluster.name },
          { title: 'PARTITION', value: (e) => e.partition },
          { title: 'JOBS AHEAD', value: (e) => e.jobsAhead },
          { title: 'NODES', value: (e) => e.nodeList },
          { title: 'WHY NOT', value: (e) => e.blockedReason },
        ],
        output,
        'No cluster that answers has such a partition.',
      )
    })

const startOf = (at: string): string => {
  const minutes = Math.round((Date.parse(at) - Date.now()) / 60_000)
  return minutes <= 0 ? 'now' : minutes < 120 ? `in ${minutes} min` : `in ${Math.round(minutes / 60)} h`
}
