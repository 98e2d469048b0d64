import { Command } from 'commander'
import { request } from '../../client.ts'
import { orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { nodeIds } from '../../ids.ts'

export const nodeUnlock = () =>
  new Command('unlock')
    .description('take nodes away from the runs that are changing them, for runs that hang; those go on regardless')
    .argument('<hostlist>', 'which nodes')
    .requiredOption('--reason <text>', 'why; kept in the audit')
    .action(async (hostlist: string, { reason }: { reason: string }) => {
      const { releaseNodeLocks } = await request(
        graphql(`mutation Unlock($nodeIds: [ID!]!, $reason: String!) {
          releaseNodeLocks(nodeIds: $nodeIds, reason: $reason) {
            __typename ... on ReleasedNodes { nodes { name } } ... on Error { code message } ... on InvalidInputError { issues { path message } }
          }
        }`),
        { nodeIds: (await nodeIds(hostlist)).map((node) => node.id), reason },
      )
      process.stderr.write(
        `Released: ${orThrow(releaseNodeLocks)
          .nodes.map((node) => node.name)
          .join(', ')}\n`,
      )
    })
