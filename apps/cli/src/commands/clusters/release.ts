import { request } from '../../client.ts'
import { Command } from '../../command.ts'
import { confirmAction, YES_HELP } from '../../confirm.ts'
import { orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { clusterId } from './find-cluster.ts'

export const clusterRelease = () =>
  new Command('release')
    .description('end the management of a cluster, which becomes an external one; nothing changes on its machines')
    .argument('<name>')
    .option('-y, --yes', YES_HELP)
    .action(async (name: string, { yes }: { yes?: boolean }) => {
      const id = await clusterId(name)
      if (!yes) await confirmAction(`Release ${name}: Muster will neither change its configuration nor its nodes.`)
      const { releaseSlurmCluster } = await request(
        graphql(`mutation ClusterRelease($id: ID!) {
          releaseSlurmCluster(input: { id: $id }) {
            __typename ... on ReleaseSlurmClusterPayload { slurmCluster { name } } ... on Error { code message }
          }
        }`),
        { id },
      )
      const { slurmCluster } = orThrow(releaseSlurmCluster)
      process.stderr.write(`${slurmCluster.name} is external now.\n`)
    })
