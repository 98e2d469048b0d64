import { request } from '../../client.ts'
import { Command, type Output } from '../../command.ts'
import { CliError, EXIT } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { printRows } from '../../output.ts'
import { nameList, SELECTOR_HELP, type SelectedNode, selectNodes } from '../../selector.ts'
import { origin, shown } from './scope.ts'

export const varsExplain = () =>
  new Command('explain')
    .description('show the effective variables of nodes, their sources and overridden values')
    .argument('<selector>', SELECTOR_HELP)
    .argument('[name...]', 'only these variables')
    .withOutput()
    .action(async (selector: string, names: string[], output: Output) => {
      const nodes = await selectNodes(selector)
      const vars: Awaited<ReturnType<typeof effectiveVars>> = []
      for (const node of nodes) vars.push(...(await effectiveVars(node, names)))
      const unset = names.filter((each) => !vars.some((found) => found.name === each))
      const nodeNames = nameList(nodes.map((node) => node.name))
      if (unset.length > 0) throw new CliError(`${unset.join(', ')} is not set on ${nodeNames}.`, EXIT.notFound)
      printRows(
        vars,
        [
          { title: 'NAME', value: (each) => each.name },
          ...(nodes.length > 1 ? [{ title: 'NODE', value: (each: (typeof vars)[number]) => each.node }] : []),
          { title: 'VALUE', value: shown },
          { title: 'FROM', value: origin },
          { title: 'OVERRIDES', value: (each) => each.overridden.map((low) => `${shown(low)} (${origin(low)})`).join(', ') },
        ],
        output,
        `${nodeNames} has no variables.`,
      )
    })

/** The variables of a node, all or only those with one of these names. */
async function effectiveVars({ id, name }: SelectedNode, names: string[]) {
  const { node } = await request(
    graphql(`query VarsExplain($id: ID!, $names: [String!]) {
      node(id: $id) { ... on ComputeNode { effectiveVars(names: $names) { name value { json isSecret } layer group overridden { value { json isSecret } layer group } } } }
    }`),
    { id, names: names.length > 0 ? names : null },
  )
  return node && 'effectiveVars' in node ? node.effectiveVars.map((each) => ({ node: name, ...each })) : []
}
