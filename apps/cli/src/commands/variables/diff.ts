import { request } from '../../client.ts'
import { Command, type Output } from '../../command.ts'
import { CliError, EXIT } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { printRows } from '../../output.ts'
import { selectNodes } from '../../selector.ts'
import { origin, shown } from './scope.ts'

export const varsDiff = () =>
  new Command('diff')
    .description('compare the effective variables of two nodes')
    .argument('<node>')
    .argument('<other>')
    .option('--all', 'include equal variables')
    .withOutput()
    .action(async (left: string, right: string, { all, ...output }: Output & { all?: true }) => {
      const [one, other] = await Promise.all([left, right].map(selectNodes))
      if (one?.length !== 1 || other?.length !== 1) throw new CliError('Specify two node names.', EXIT.usage)
      const { compareVars } = await request(
        graphql(`query VarsDiff($left: ID!, $right: ID!) {
          compareVars(left: $left, right: $right) { name isSame left { value { json isSecret } layer group } right { value { json isSecret } layer group } }
        }`),
        { left: one[0]!.id, right: other[0]!.id },
      )
      const side = (each: Parameters<typeof shown>[0] & Parameters<typeof origin>[0]) => `${shown(each)} (${origin(each)})`
      printRows(
        all ? compareVars : compareVars.filter((each) => !each.isSame),
        [
          { title: 'NAME', value: (each) => each.name },
          { title: left.toUpperCase(), value: (each) => each.left && side(each.left) },
          { title: right.toUpperCase(), value: (each) => each.right && side(each.right) },
        ],
        output,
        'All variables are equal.',
      )
    })
