import { Command } from 'commander'
import { request } from '../../client.ts'
import { graphql } from '../../graphql.ts'
import { eachNode } from './each.ts'

export const nodeDecommission = () =>
  new Command('decommission')
    .description('take nodes out of service; their history stays')
    .argument('<hostlist>', 'nodes, for example gpu[01-08]')
    .action((hostlist: string) =>
      eachNode(
        hostlist,
        async ({ id }) =>
          (
            await request(
              graphql(`mutation NodeDecommission($id: ID!) {
                decommissionNode(id: $id) { __typename ... on ComputeNode { status } ... on Error { code message } }
              }`),
              { id },
            )
          ).decommissionNode,
        (node) => node.status,
      ),
    )
