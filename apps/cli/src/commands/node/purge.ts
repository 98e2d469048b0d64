import { Command } from 'commander'
import { request } from '../../client.ts'
import { graphql } from '../../graphql.ts'
import { eachNode } from './each.ts'

export const nodePurge = () =>
  new Command('purge')
    .description('remove decommissioned nodes for good; runs keep their names and logs')
    .argument('<hostlist>', 'nodes, for example gpu[01-08]')
    .action((hostlist: string) =>
      eachNode(
        hostlist,
        async ({ id }) =>
          (
            await request(
              graphql(`mutation NodePurge($id: ID!) {
                purgeNode(id: $id) { __typename ... on Deleted { id } ... on Error { code message } }
              }`),
              { id },
            )
          ).purgeNode,
        () => 'removed',
      ),
    )
