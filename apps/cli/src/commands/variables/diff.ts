import { request } from '../../client.ts'
import { Command, type Output } from '../../command.ts'
import { graphql } from '../../graphql.ts'
import { printRows } from '../../output.ts'
import { ONE_NODE_HELP, selectNode } from '../../selector.ts'
import { origin, shown } from './scope.ts'

export const varsDiff = () =>
  new Command('diff')
    .description('compare the effective variables of two nodes')
    .argument('<selector>', ONE_NODE_HELP)
    .argument('<other>', ONE_NODE_HELP)
    .option('--all', 'include equal variables')
    .withOutput()
    .action(async (selector: string, other: string, { all, ...output }: Output & { all?: true }) => {
      const left = await selectNode(selector)
      const right = await selectNode(other)
      const { compareVars } = await request(
        graphql(`query VarsDiff($left: ID!, $right: ID!) {
          compareVars(leftId: $left, rightId: $right) { name isSame left { value { json isSecret } layer group } right { value { json isSecret } layer group } }
        }`),
        { left: left.id, right: right.id },
      )
      const side = (each: Parameters<typeof shown>[0] & Parameters<typeof origin>[0]) => `${shown(each)} (${origin(each)})`
      printRows(
        all ? compareVars : compareVars.filter((each) => !each.isSame),
        [
          { title: 'NAME', value: (each) => each.name },
          { title: left.name.toUpperCase(), value: (each) => each.left && side(each.left) },
          { title: right.name.toUpperCase(), value: (each) => each.right && side(each.right) },
        ],
        output,
        'All variables are equal.',
      )
    })
