import { Command } from 'commander'
import { request } from '../../client.ts'
import { graphql } from '../../graphql.ts'
import { eachNode } from './each.ts'

export const nodeRecommission = () =>
  new Command('recommission')
    .description('take decommissioned nodes back; `muster node test` comes next')
    .argument('<hostlist>', 'nodes, for example gpu[01-08]')
    .action((hostlist: string) =>
      eachNode(
        hostlist,
        async ({ id }) =>
          (
            await request(
              graphql(`mutation NodeRecommission($id: ID!) {
                recommissionNode(id: $id) { __typename ... on ComputeNode { status } ... on Error { code message } }
              }`),
              { id },
            )
          ).recommissionNode,
        (node) => node.status,
      ),
    )
