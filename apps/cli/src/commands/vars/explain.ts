import { Command } from 'commander'
import { request } from '../../client.ts'
import { CliError, EXIT } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { noNode } from '../../ids.ts'
import { type Format, outputOption, printRows } from '../../output.ts'
import { origin, shown } from './scope.ts'

export const varsExplain = () =>
  new Command('explain')
    .description('the variables that hold on a node, where each comes from and what it overrides')
    .argument('<node>')
    .argument('[name...]', 'only these')
    .addOption(outputOption())
    .action(async (name: string, names: string[], { output }: { output: Format }) => {
      const { computeNode } = await request(
        graphql(`query VarsExplain($name: String!, $names: [String!]) {
          computeNode(name: $name) { effectiveVars(names: $names) { name value isSecret layer group overridden { value isSecret layer group } } }
        }`),
        { name, names: names.length > 0 ? names : null },
      )
      if (!computeNode) throw noNode(name)
      const vars = computeNode.effectiveVars
      const unset = names.filter((each) => !vars.some((found) => found.name === each))
      if (unset.length > 0) throw new CliError(`${unset.join(', ')} is not set on ${name}.`, EXIT.notFound)
      printRows(
        vars,
        [
          { title: 'NAME', value: (each) => each.name },
          { title: 'VALUE', value: shown },
          { title: 'FROM', value: origin },
          { title: 'OVERRIDES', value: (each) => each.overridden.map((low) => `${shown(low)} (${origin(low)})`).join(', ') },
        ],
        output,
        `No variables hold on ${name}.`,
      )
    })
