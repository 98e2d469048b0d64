import { request } from '../../../client.ts'
import { Command } from '../../../command.ts'
import { CliError, EXIT, orThrow } from '../../../errors.ts'
import { graphql } from '../../../graphql.ts'
import { selectNode } from '../../../selector.ts'
import { givenCluster, withCluster } from '../../clusters/find-cluster.ts'
import { slurmNodeId } from './find-node.ts'

const MATCH = graphql(`mutation SlurmNodeMatch($input: MatchSlurmNodeInput!) {
  matchSlurmNode(input: $input) {
    __typename ... on MatchSlurmNodePayload { slurmNode { name node { name } } } ... on Error { code message } ... on InvalidInputError { issues { path message } }
  }
}`)

async function match(input: { id: string; nodeId?: string; automatic?: boolean }): Promise<void> {
  const { slurmNode } = orThrow((await request(MATCH, { input })).matchSlurmNode)
  process.stderr.write(
    `${slurmNode.name} is ${slurmNode.node ? `the node ${slurmNode.node.name}` : 'no node of the inventory'}.\n`,
  )
}

export const slurmNodeMatch = () =>
  withCluster(
    new Command('match')
      .description('choose which node of the inventory a node of a cluster is')
      .argument('<name>', 'NodeName')
      .argument('[node]', 'node of the inventory'),
  )
    .option('--automatic', 'undo the choice: match by address, host name and name')
    .action(
      async (name: string, node: string | undefined, { automatic, ...options }: { cluster?: string; automatic?: boolean }) => {
        if ((node === undefined) === !automatic)
          throw new CliError('Name a node of the inventory, or use --automatic.', EXIT.usage)
        const id = await slurmNodeId(await givenCluster(options), name)
        await match(node === undefined ? { id, automatic: true } : { id, nodeId: (await selectNode(node)).id })
      },
    )

export const slurmNodeUnmatch = () =>
  withCluster(
    new Command('unmatch')
      .description('choose that a node of a cluster is no node of the inventory')
      .argument('<name>', 'NodeName'),
  ).action(async (name: string, options: { cluster?: string }) => {
    await match({ id: await slurmNodeId(await givenCluster(options), name) })
  })
