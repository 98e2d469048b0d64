import { Command } from 'commander'
import { request } from '../../client.ts'
import { CliError, EXIT } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { noNode } from '../../ids.ts'
import { type Format, outputOption, printRows } from '../../output.ts'
import { rowsOf } from '../../pages.ts'

export const nodeDiff = () =>
  new Command('diff')
    .description(
      'what changed between the last two looks at a node, or what differs between two nodes; exit code 1 when something does',
    )
    .argument('<name>')
    .argument('[other]', 'compare with this node instead of with the look before')
    .addOption(outputOption())
    .action(async (name: string, other: string | undefined, { output }: { output: Format }) => {
      const looks = await snapshots(name)
      const [before, after] = other ? [looks[0], (await snapshots(other))[0]] : [looks[1], looks[0]]
      if (!before || !after) throw tooFew(other && looks[0] ? other : name, looks.length)
      const { discoveryDiff } = await request(
        graphql(
          `query NodeDiff($before: ID!, $after: ID!) { discoveryDiff(before: $before, after: $after) { path label kind before after } }`,
        ),
        { before, after },
      )
      if (discoveryDiff.length > 0) process.exitCode = EXIT.failed
      printRows(
        discoveryDiff,
        [
          { title: 'CHANGE', value: (c) => c.kind },
          { title: 'WHAT', value: (c) => c.label },
          { title: 'WHERE', value: (c) => c.path, spare: true },
        ],
        output,
        'No difference.',
      )
    })

const tooFew = (name: string, looks: number) =>
  new CliError(
    looks === 1
      ? `${name} has been looked at only once. Run \`muster node discover ${name}\`, or name a second node.`
      : `${name} has not been looked at yet. Run \`muster node discover ${name}\`.`,
    EXIT.refused,
  )

const LOOKS = graphql(`query NodeSnapshots($name: String!, $first: Int, $after: String) {
  computeNode(name: $name) {
    discoveries(first: $first, after: $after) { edges { node { id status } } pageInfo { hasNextPage endCursor } }
  }
}`)

/** Ids of the finished discoveries of a node, newest first. */
async function snapshots(name: string): Promise<string[]> {
  const looks = await rowsOf(async (page) => {
    const { computeNode } = await request(LOOKS, { name, ...page })
    if (!computeNode) throw noNode(name)
    return computeNode.discoveries
  })
  return looks.filter((look) => look.status === 'SUCCEEDED').map((look) => look.id)
}
