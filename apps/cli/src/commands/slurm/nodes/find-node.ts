import { request } from '../../../client.ts'
import { CliError, EXIT } from '../../../errors.ts'
import { graphql } from '../../../graphql.ts'

/** ID of the node of a cluster with this name. */
export async function slurmNodeId(cluster: string, name: string): Promise<string> {
  const { slurmCluster } = await request(
    graphql(`query SlurmNodeId($id: ID!, $name: String!) {
      slurmCluster(id: $id) { name nodes(filter: { hostlist: $name }, first: 2) { edges { node { id } } } }
    }`),
    { id: cluster, name },
  )
  const [edge, another] = slurmCluster?.nodes.edges ?? []
  if (!edge || another)
    throw new CliError(`No node named ${name} in ${slurmCluster?.name}. See \`muster slurm node list --long\`.`, EXIT.notFound)
  return edge.node.id
}
