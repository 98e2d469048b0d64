import { request } from '../../client.ts'
import { Command } from '../../command.ts'
import { confirmAction, YES_HELP } from '../../confirm.ts'
import { orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { clusterId } from './find-cluster.ts'

export const clusterRemove = () =>
  new Command('remove')
    .description('remove a cluster from Muster; nothing changes on its machines')
    .argument('<name>')
    .option('-y, --yes', YES_HELP)
    .action(async (name: string, { yes }: { yes?: boolean }) => {
      const id = await clusterId(name)
      await confirmAction(`Remove ${name} from Muster. The cluster itself and the nodes of the inventory stay.`, yes)
      const { removeSlurmCluster } = await request(
        graphql(`mutation ClusterRemove($id: ID!) {
          removeSlurmCluster(input: { id: $id }) { __typename ... on RemoveSlurmClusterPayload { deletedId } ... on Error { code message } }
        }`),
        { id },
      )
      orThrow(removeSlurmCluster)
      process.stderr.write(`Removed ${name}.\n`)
    })
