import { request } from '../../client.ts'
import { Command, type Output } from '../../command.ts'
import { CliError, EXIT } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { nodeNotFound } from '../../lookup.ts'
import { printRows } from '../../output.ts'
import { origin, shown } from './scope.ts'

export const varsExplain = () =>
  new Command('explain')
    .description('show the effective variables of a node, their sources and overridden values')
    .argument('<node>')
    .argument('[name...]', 'only these variables')
    .withOutput()
    .action(async (name: string, names: string[], output: Output) => {
      const { computeNode } = await request(
        graphql(`query VarsExplain($name: String!, $names: [String!]) {
          computeNode(name: $name) { effectiveVars(names: $names) { name value { json isSecret } layer group overridden { value { json isSecret } layer group } } }
        }`),
        { name, names: names.length > 0 ? names : null },
      )
      if (!computeNode) throw nodeNotFound(name)
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
        `${name} has no variables.`,
      )
    })
