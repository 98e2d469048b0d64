import { request } from '../../../client.ts'
import { Command, type Output } from '../../../command.ts'
import { CliError, EXIT } from '../../../errors.ts'
import { graphql, type ResultOf } from '../../../graphql.ts'
import { isTable, printObject, printRows } from '../../../output.ts'
import { fetchAll } from '../../../pages.ts'
import { givenCluster, printOrWatch, warnIfOld, withCluster, withWatch } from '../../clusters/find-cluster.ts'

const LIST = graphql(`query SlurmPartitionList($id: ID!, $first: Int, $after: String) {
  slurmCluster(id: $id) {
    name state refreshedAt failingSince lastError
    partitions(first: $first, after: $after) {
      edges { node { id name state isDefault isHidden nodeList nodeCount cpus maxTimeMinutes defaultTimeMinutes maxNodes allowGroups allowAccounts allowQos qos priorityTier
        nodesByState { state nodes cpus allocatedCpus gpus allocatedGpus nodeList } jobsByState { state jobs } } }
      pageInfo { hasNextPage endCursor }
    }
  }
}`)
type Partition = NonNullable<ResultOf<typeof LIST>['slurmCluster']>['partitions']['edges'][number]['node']
type Options = Output & { cluster?: string; watch?: boolean }

async function fetchPartitions(id: string): Promise<Partition[]> {
  return fetchAll(async (page) => {
    const { slurmCluster: cluster } = await request(LIST, { id, ...page })
    if (cluster && page.after === null) warnIfOld(cluster)
    return cluster?.partitions
  })
}

const sum = (of: Partition, column: 'allocatedCpus' | 'gpus' | 'allocatedGpus') =>
  of.nodesByState.reduce((total, state) => total + state[column], 0)
const jobs = (of: Partition) => of.jobsByState.map(({ state, jobs }) => `${jobs} ${state}`).join(', ')
const minutes = (value: number | null) => (value === null ? 'unlimited' : `${value} min`)

export const slurmPartitionList = () =>
  withWatch(withCluster(new Command('list').description('list the partitions of a cluster with their use')))
    .withOutput()
    .action(async (options: Options) => {
      const id = await givenCluster(options)
      await printOrWatch(id, options, async () =>
        printRows(
          await fetchPartitions(id),
          [
            { title: 'NAME', value: (p) => `${p.name}${p.isDefault ? '*' : ''}` },
            { title: 'STATE', value: (p) => p.state },
            { title: 'NODES', value: (p) => p.nodeCount },
            { title: 'CPUS', value: (p) => `${sum(p, 'allocatedCpus')}/${p.cpus}` },
            { title: 'GPUS', value: (p) => `${sum(p, 'allocatedGpus')}/${sum(p, 'gpus')}` },
            { title: 'JOBS', value: jobs },
            { title: 'MAX TIME', value: (p) => minutes(p.maxTimeMinutes) },
            { title: 'NODELIST', value: (p) => p.nodeList },
          ],
          options,
        ),
      )
    })

export const slurmPartitionGet = () =>
  withWatch(withCluster(new Command('get').description('show a partition with its nodes by state').argument('<name>')))
    .withOutput()
    .action(async (name: string, options: Options) => {
      const id = await givenCluster(options)
      await printOrWatch(id, options, async () => {
        const partition = (await fetchPartitions(id)).find((one) => one.name === name)
        if (!partition) throw new CliError(`No partition named ${name}. See \`muster slurm partition list\`.`, EXIT.notFound)
        if (!isTable(options)) return printObject(partition, options, [['name', partition.name]])
        const all = (list: string[]) => list.join(', ') || 'all'
        printObject(partition, options, [
          ['name', partition.name],
          ['state', partition.state],
          ['default', partition.isDefault ? 'yes' : 'no'],
          ['time limit', `${minutes(partition.maxTimeMinutes)}, default ${minutes(partition.defaultTimeMinutes)}`],
          ['max nodes', partition.maxNodes ?? 'unlimited'],
          ['groups', all(partition.allowGroups)],
          ['accounts', all(partition.allowAccounts)],
          ['qos', all(partition.allowQos)],
          ['priority tier', partition.priorityTier],
          ['jobs', jobs(partition)],
        ])
        process.stdout.write('\n')
        printRows(
          partition.nodesByState,
          [
            { title: 'STATE', value: (s) => s.state },
            { title: 'NODES', value: (s) => s.nodes },
            { title: 'CPUS', value: (s) => `${s.allocatedCpus}/${s.cpus}` },
            { title: 'GPUS', value: (s) => `${s.allocatedGpus}/${s.gpus}` },
            { title: 'NODELIST', value: (s) => s.nodeList },
          ],
          options,
          'The partition has no nodes.',
        )
      })
    })
