import { request } from '../../../client.ts'
import { Command, type Output } from '../../../command.ts'
import { CliError, EXIT } from '../../../errors.ts'
import { graphql } from '../../../graphql.ts'
import { ago, printRows } from '../../../output.ts'
import { fetchAll } from '../../../pages.ts'

const LIST = graphql(`query BootRuleList($first: Int, $after: String) {
  bootRules(first: $first, after: $after) {
    edges { node {
      id name priority isEnabled macPrefixes interfaceMacPrefixes serials systemUuids arch names group { name } profile { name }
      maxAccepted accepted lastAcceptedAt problem
    } }
    pageInfo { hasNextPage endCursor }
  }
}`)

type Conditions = {
  macPrefixes: string[] | null
  interfaceMacPrefixes: string[] | null
  serials: string[] | null
  systemUuids: string[] | null
  arch: string | null
}
const conditions = ({ macPrefixes, interfaceMacPrefixes, serials, systemUuids, arch }: Conditions): string =>
  Object.entries({
    mac: macPrefixes,
    'interface-mac': interfaceMacPrefixes,
    serial: serials,
    uuid: systemUuids,
    arch: arch && [arch],
  })
    .flatMap(([name, values]) => (values ? [`${name}=${values.join(',')}`] : []))
    .join(' ')

export const ruleList = () =>
  new Command('list')
    .description('list rules that accept unknown machines, in order of precedence')
    .withOutput()
    .action(async (output: Output) => {
      const rules = await fetchAll(async (page) => (await request(LIST, page)).bootRules)
      printRows(
        rules.sort((a, b) => a.priority - b.priority || (a.name < b.name ? -1 : 1)),
        [
          { title: 'NAME', value: (rule) => rule.name },
          { title: 'PRIORITY', value: (rule) => rule.priority },
          { title: 'ENABLED', value: (rule) => (rule.isEnabled ? 'yes' : 'no') },
          { title: 'MATCHES', value: conditions },
          { title: 'NAMES', value: (rule) => rule.names },
          { title: 'ACCEPTED', value: (rule) => `${rule.accepted}/${rule.maxAccepted}` },
          { title: 'PROBLEM', value: (rule) => rule.problem },
          { title: 'GROUP', value: (rule) => rule.group?.name, wide: true },
          { title: 'PROFILE', value: (rule) => rule.profile?.name, wide: true },
          { title: 'LAST', value: (rule) => rule.lastAcceptedAt && ago(rule.lastAcceptedAt), wide: true },
        ],
        output,
        'No boot rules yet. Create one with `muster boot rule create`.',
      )
    })

/** @throws CliError there is none */
export async function ruleId(name: string): Promise<string> {
  const { bootRule } = await request(graphql(`query BootRuleId($name: String!) { bootRule(name: $name) { id } }`), { name })
  if (!bootRule) throw new CliError(`No boot rule named ${name}. See \`muster boot rule list\`.`, EXIT.notFound)
  return bootRule.id
}
