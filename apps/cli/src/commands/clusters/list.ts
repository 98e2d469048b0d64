import { request } from '../../client.ts'
import { Command, type Output } from '../../command.ts'
import { graphql } from '../../graphql.ts'
import { oneOf } from '../../options.ts'
import { ago, printRows } from '../../output.ts'
import { fetchAll } from '../../pages.ts'
import { freshness, printOrWatch, withWatch } from './find-cluster.ts'

const LIST = graphql(`query ClusterList($filter: SlurmClusterFilter, $first: Int, $after: String) {
  slurmClusters(filter: $filter, first: $first, after: $after) {
    edges { node { id name kind region state clusterName version refreshedAt failingSince failureCount lastError nextRefreshAt refreshDurationMs
      controllerNode { name } totals { nodes cpus allocatedCpus gpus allocatedGpus jobs jobsByState { state jobs } } } }
    pageInfo { hasNextPage endCursor }
  }
}`)
const STATES = ['WAITING', 'OK', 'NOT_ANSWERING'] as const
type Options = Output & { state?: (typeof STATES)[number]; region?: string; text?: string; watch?: boolean }

export const clusterList = () =>
  withWatch(
    new Command('list')
      .description('list clusters with their use')
      .option('--state <state>', STATES.join(' '), oneOf(...STATES))
      .option('--region <region>', 'clusters of this region')
      .option('--text <text>', 'clusters with this text in name or region'),
  )
    .withOutput()
    .action(async (options: Options) => {
      const filter = {
        ...(options.state ? { state: [options.state] } : {}),
        ...(options.region ? { region: [options.region] } : {}),
        ...(options.text ? { search: options.text } : {}),
      }
      await printOrWatch(null, options, async () => {
        const rows = await fetchAll(async (page) => (await request(LIST, { filter, ...page })).slurmClusters)
        const jobs = (row: (typeof rows)[number], state: string) =>
          row.totals.jobsByState.find((of) => of.state === state)?.jobs ?? 0
        printRows(
          rows,
          [
            { title: 'NAME', value: (c) => c.name },
            { title: 'STATE', value: (c) => freshness(c) },
            { title: 'VERSION', value: (c) => c.version },
            { title: 'NODES', value: (c) => c.totals.nodes },
            { title: 'CPUS', value: (c) => `${c.totals.allocatedCpus}/${c.totals.cpus}` },
            { title: 'GPUS', value: (c) => `${c.totals.allocatedGpus}/${c.totals.gpus}` },
            { title: 'RUNNING', value: (c) => jobs(c, 'RUNNING') },
            { title: 'PENDING', value: (c) => jobs(c, 'PENDING') },
            { title: 'KIND', value: (c) => c.kind, wide: true },
            { title: 'REGION', value: (c) => c.region, wide: true },
            { title: 'CONTROLLER', value: (c) => c.controllerNode?.name, wide: true },
            { title: 'LAST READ', value: (c) => ago(c.refreshedAt), wide: true },
          ],
          options,
          Object.keys(filter).length > 0
            ? 'No clusters match these filters.'
            : 'No clusters yet. Add one with `muster cluster add`.',
        )
      })
    })
