import { request } from '../../client.ts'
import { Command, type Output } from '../../command.ts'
import { CliError, EXIT } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { printRows } from '../../output.ts'
import { fetchAll } from '../../pages.ts'
import { ONE_NODE_HELP, type SelectedNode, selectNode } from '../../selector.ts'

export const nodeDiff = () =>
  new Command('diff')
    .description('compare the last two discoveries of a node, or two nodes; exit code 1 when they differ')
    .argument('<selector>', ONE_NODE_HELP)
    .argument('[other]', 'another node to compare with: its name, or a selector that matches one node')
    .withOutput()
    .action(async (selector: string, otherSelector: string | undefined, output: Output) => {
      const node = await selectNode(selector)
      const other = otherSelector === undefined ? undefined : await selectNode(otherSelector)
      const discoveries = await snapshots(node)
      const [before, after] = other ? [discoveries[0], (await snapshots(other))[0]] : [discoveries[1], discoveries[0]]
      if (!before || !after) throw tooFewDiscoveries((other && discoveries[0] ? other : node).name, discoveries.length)
      const { discoveryDiff } = await request(
        graphql(
          `query NodeDiff($before: ID!, $after: ID!) { discoveryDiff(fromId: $before, toId: $after) { path label kind before after } }`,
        ),
        { before, after },
      )
      if (discoveryDiff.length > 0) process.exitCode = EXIT.failed
      printRows(
        discoveryDiff,
        [
          { title: 'CHANGE', value: (c) => c.kind },
          { title: 'FIELD', value: (c) => c.label },
          { title: 'PATH', value: (c) => c.path, wide: true },
        ],
        output,
        'No differences.',
      )
    })

const tooFewDiscoveries = (name: string, discoveries: number) =>
  new CliError(
    discoveries === 1
      ? `${name} was discovered only once. Run \`muster node discover ${name}\`, or specify a second node.`
      : `${name} was not discovered yet. Run \`muster node discover ${name}\`.`,
    EXIT.rejected,
  )

const DISCOVERIES = graphql(`query NodeSnapshots($id: ID!, $first: Int, $after: String) {
  node(id: $id) { ... on ComputeNode {
    discoveries(first: $first, after: $after) { edges { node { id status } } pageInfo { hasNextPage endCursor } }
  } }
}`)

/** Ids of the finished discoveries of a node, newest first. */
async function snapshots({ id }: SelectedNode): Promise<string[]> {
  const discoveries = await fetchAll(async (page) => {
    const { node } = await request(DISCOVERIES, { id, ...page })
    return node && 'discoveries' in node ? node.discoveries : null
  })
  return discoveries.filter((discovery) => discovery.status === 'SUCCEEDED').map((discovery) => discovery.id)
}
