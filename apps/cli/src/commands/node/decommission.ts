import { Command } from 'commander'
import { request } from '../../client.ts'
import { EXIT, errorFrom } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { nodeIds } from '../../ids.ts'

export const nodeDecommission = () =>
  new Command('decommission')
    .description('take nodes out of service; their history stays')
    .argument('<hostlist>', 'nodes, for example gpu[01-08]')
    .action(async (hostlist: string) => {
      for (const node of await nodeIds(hostlist)) {
        const { decommissionNode: result } = await request(
          graphql(`mutation NodeDecommission($id: ID!) {
            decommissionNode(id: $id) { __typename ... on ComputeNode { name status } ... on Error { code message } }
          }`),
          { id: node.id },
        )
        if ('code' in result) {
          // The others are still tried: one busy node must not keep the rest.
          process.stderr.write(`${node.name}: ${errorFrom(result).message}\n`)
          process.exitCode = EXIT.refused
        } else process.stdout.write(`${node.name}: ${result.status}\n`)
      }
    })
