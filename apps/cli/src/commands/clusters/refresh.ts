import { request, subscribe } from '../../client.ts'
import { Command } from '../../command.ts'
import { CliError, orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { clusterId } from './find-cluster.ts'

const UPDATES = graphql(`subscription ClusterRefreshUpdates($id: ID) {
  slurmClusterUpdated(id: $id) { refreshedAt failureCount lastError totals { nodes jobs } refreshDurationMs }
}`)

export const clusterRefresh = () =>
  new Command('refresh')
    .description('read a cluster at once and wait for the result')
    .argument('<name>')
    .action(async (name: string) => {
      const id = await clusterId(name)
      const { refreshSlurmCluster } = await request(
        graphql(`mutation ClusterRefresh($id: ID!) {
          refreshSlurmCluster(input: { id: $id }) {
            __typename ... on RefreshSlurmClusterPayload { slurmCluster { refreshedAt failureCount } } ... on Error { code message }
          }
        }`),
        { id },
      )
      const before = orThrow(refreshSlurmCluster).slurmCluster
      for await (const { slurmClusterUpdated: after } of subscribe(UPDATES, () => ({ id }))) {
        if (after.failureCount > before.failureCount) throw new CliError(after.lastError ?? 'The refresh failed.')
        if (after.refreshedAt === before.refreshedAt) continue
        process.stderr.write(`Read ${after.totals.nodes} nodes and ${after.totals.jobs} jobs in ${after.refreshDurationMs} ms.\n`)
        return
      }
    })
