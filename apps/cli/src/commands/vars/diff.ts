import { Command } from 'commander'
import { request } from '../../client.ts'
import { CliError, EXIT } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { nodeIds } from '../../ids.ts'
import { type Format, outputOption, printRows } from '../../output.ts'
import { origin, shown } from './scope.ts'

export const varsDiff = () =>
  new Command('diff')
    .description('the variables of two nodes side by side')
    .argument('<node>')
    .argument('<other>')
    .option('--all', 'also those that are the same')
    .addOption(outputOption())
    .action(async (left: string, right: string, options: { all?: true; output: Format }) => {
      const [one, other] = await Promise.all([left, right].map(nodeIds))
      if (one?.length !== 1 || other?.length !== 1) throw new CliError('Name two nodes, one each.', EXIT.usage)
      const { compareVars } = await request(
        graphql(`query VarsDiff($left: ID!, $right: ID!) {
          compareVars(left: $left, right: $right) { name isSame left { value isSecret layer group } right { value isSecret layer group } }
        }`),
        { left: one[0]!.id, right: other[0]!.id },
      )
      const side = (each: Parameters<typeof shown>[0] & Parameters<typeof origin>[0]) => `${shown(each)} (${origin(each)})`
      printRows(
        options.all ? compareVars : compareVars.filter((each) => !each.isSame),
        [
          { title: 'NAME', value: (each) => each.name },
          { title: left.toUpperCase(), value: (each) => each.left && side(each.left) },
          { title: right.toUpperCase(), value: (each) => each.right && side(each.right) },
        ],
        options.output,
        'All variables are the same.',
      )
    })
