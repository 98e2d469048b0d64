import { request } from '../../../client.ts'
import { Command, type Output } from '../../../command.ts'
import { graphql } from '../../../graphql.ts'
import { commaList, integer, oneOf } from '../../../options.ts'
import { isTable, printRows } from '../../../output.ts'
import { fetchAll } from '../../../pages.ts'
import { givenCluster, printOrWatch, warnIfOld, withCluster, withWatch } from '../../clusters/find-cluster.ts'

const LIST = graphql(`query SlurmNodeList($id: ID!, $filter: SlurmNodeFilter, $first: Int, $after: String) {
  slurmCluster(id: $id) {
    name state refreshedAt failingSince lastError
    nodes(filter: $filter, first: $first, after: $after) {
      edges { node { id name address state states partitions reason reasonUser reasonAt cpus allocatedCpus memoryMiB allocatedMemoryMiB gpus allocatedGpus
        gres { name type count used } match matchedBy matchConflict node { name } differences { kind configured discovered } } }
      pageInfo { hasNextPage endCursor }
    }
  }
}`)
const GROUPS = graphql(`query SlurmNodeGroups($id: ID!) {
  slurmCluster(id: $id) {
    name state refreshedAt failingSince lastError
    totals { nodesByState { state nodes cpus allocatedCpus gpus allocatedGpus nodeList } }
  }
}`)
const MATCHES = ['MATCHED', 'UNMATCHED', 'CONFLICT'] as const
type Options = Output & {
  cluster?: string
  state?: string[]
  partition?: string[]
  text?: string
  match?: (typeof MATCHES)[number]
  number?: number
  long?: boolean
  watch?: boolean
}

export const slurmNodeList = () =>
  withWatch(
    withCluster(
      new Command('list')
        .description('list the nodes of a cluster; without filters grouped by state')
        .argument('[hostlist]', 'only these nodes, such as gpu[001-064]')
        .option(
          '--state <states>',
          'nodes with any of these shown states or flags, separated by commas; idle also finds idle*, drain all drained nodes',
          commaList,
        )
        .option('--partition <names>', 'nodes in any of these partitions, separated by commas', commaList)
        .option('--text <text>', 'nodes with this text in name, address or reason')
        .option('--match <match>', MATCHES.join(' '), oneOf(...MATCHES))
        .option('--long', 'one row per node, also without filters')
        .option('-n, --number <n>', 'maximum number of rows', integer),
    ),
  )
    .withOutput()
    .action(async (hostlist: string | undefined, options: Options) => {
      const id = await givenCluster(options)
      const filter = {
        ...(hostlist === undefined ? {} : { hostlist }),
        ...(options.state ? { state: options.state } : {}),
        ...(options.partition ? { partition: options.partition } : {}),
        ...(options.text ? { search: options.text } : {}),
        ...(options.match ? { match: [options.match] } : {}),
      }
      const isGrouped = isTable(options) && !options.long && Object.keys(filter).length === 0 && options.number === undefined
      await printOrWatch(id, options, () => (isGrouped ? printGroups(id, options) : printNodes(id, filter, options)))
    })

async function printGroups(id: string, output: Output): Promise<void> {
  const { slurmCluster: cluster } = await request(GROUPS, { id })
  if (cluster) warnIfOld(cluster)
  printRows(
    cluster?.totals.nodesByState ?? [],
    [
      { title: 'STATE', value: (s) => s.state },
      { title: 'NODES', value: (s) => s.nodes },
      { title: 'CPUS', value: (s) => `${s.allocatedCpus}/${s.cpus}` },
      { title: 'GPUS', value: (s) => `${s.allocatedGpus}/${s.gpus}` },
      { title: 'NODELIST', value: (s) => s.nodeList },
    ],
    output,
    'The cluster has no nodes, or has not been read yet.',
  )
}

async function printNodes(id: string, filter: object, options: Options): Promise<void> {
  let isFirst = true
  const rows = await fetchAll(async (page) => {
    const { slurmCluster: cluster } = await request(LIST, { id, filter, ...page })
    if (cluster && isFirst) warnIfOld(cluster)
    isFirst = false
    return cluster?.nodes
  }, options.number)
  printRows(
    rows,
    [
      { title: 'NAME', value: (n) => n.name },
      { title: 'STATE', value: (n) => n.state },
      { title: 'PARTITIONS', value: (n) => n.partitions.join(',') },
      { title: 'CPUS', value: (n) => `${n.allocatedCpus}/${n.cpus}` },
      { title: 'GRES', value: (n) => n.gres.map((g) => `${g.used}/${g.count} ${g.type ?? g.name}`).join(', ') },
      { title: 'REASON', value: (n) => n.reason },
      { title: 'NODE', value: (n) => n.node?.name ?? (n.match === 'CONFLICT' ? 'CONFLICT' : null) },
      { title: 'MEMORY MiB', value: (n) => `${n.allocatedMemoryMiB}/${n.memoryMiB}`, wide: true },
      { title: 'ADDRESS', value: (n) => n.address, wide: true },
      { title: 'MATCHED BY', value: (n) => n.matchConflict ?? n.matchedBy, wide: true },
      { title: 'DIFFERENCES', value: (n) => n.differences.map((d) => d.kind).join(', '), wide: true },
    ],
    options,
    'No nodes match these filters.',
  )
}
