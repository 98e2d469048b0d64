import { Command } from 'commander'
import { request } from '../../client.ts'
import { graphql } from '../../graphql.ts'
import { eachNode } from './each.ts'

export const nodeMaintenance = () =>
  new Command('maintenance')
    .description('put nodes into maintenance: no run takes them until it ends')
    .argument('<hostlist>', 'nodes, for example gpu[01-08]')
    .option('--end', 'back to work')
    .action((hostlist: string, { end }: { end?: true }) =>
      eachNode(
        hostlist,
        async ({ id }) =>
          (
            await request(
              graphql(`mutation NodeMaintenance($id: ID!, $isOn: Boolean!) {
                setNodeMaintenance(id: $id, isOn: $isOn) { __typename ... on ComputeNode { status } ... on Error { code message } }
              }`),
              { id, isOn: !end },
            )
          ).setNodeMaintenance,
        (node) => node.status,
      ),
    )
