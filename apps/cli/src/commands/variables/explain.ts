import { request } from '../../client.ts'
import { Command, type Output } from '../../command.ts'
import { CliError, EXIT } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { printRows } from '../../output.ts'
import { fetchAll } from '../../pages.ts'
import { nameList, SELECTOR_HELP, selectNodes, selectorFilter } from '../../selector.ts'
import { origin, shown } from './scope.ts'

export const varsExplain = () =>
  new Command('explain')
    .description('show the effective variables of nodes, their sources and overridden values')
    .argument('<selector>', SELECTOR_HELP)
    .argument('[name...]', 'only these variables')
    .withOutput()
    .action(async (selector: string, names: string[], output: Output) => {
      const nodes = await selectNodes(selector)
      const vars = await effectiveVars(selector, names)
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

/** The variables of nodes, all or only those with one of these names. */
async function effectiveVars(selector: string, names: string[]) {
  const nodes = await fetchAll(async ({ after }) => {
    const page = { filter: selectorFilter(selector), first: PAGE, after }
    return (await request(VARS_OF_NODES, { ...page, names: names.length > 0 ? names : null })).nodes
  })
  return nodes.flatMap(({ name, effectiveVars: vars }) => vars.map((each) => ({ node: name, ...each })))
}

/** More nodes at once would exceed the cost limit of an operation. */
const PAGE = 100

const VARS_OF_NODES = graphql(`query VarsExplain($filter: NodeFilter, $first: Int, $after: String, $names: [String!]) {
  nodes(filter: $filter, first: $first, after: $after) {
    edges { node { name effectiveVars(names: $names) { name value { json isSecret } layer group overridden { value { json isSecret } layer group } } } }
    pageInfo { hasNextPage endCursor }
  }
}`)
