import { request } from '../../client.ts'
import { Command, type Output } from '../../command.ts'
import { CliError, EXIT, orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { count, isTable, printObject, printRows } from '../../output.ts'
import { readScope, type ScopeOptions, shown, withScope } from './scope.ts'
import { type Edit, textAfter, withEdit } from './set.ts'

type Options = ScopeOptions & Edit & Output & { secret?: string }

export const varsImpact = () =>
  withScope(withEdit(new Command('impact').description('preview which nodes an edit would affect, without saving')))
    .option('--secret <name>', 'show which nodes a new value of this secret variable would affect')
    .withOutput()
    .action(async (assignments: string[], { file, remove, secret, output: format, headers, ...scopeOptions }: Options) => {
      const output = { output: format, headers }
      const scope = await readScope(scopeOptions)
      const { ids, label } = scope
      if (secret !== undefined && (file ?? remove ?? assignments[0]) !== undefined)
        throw new CliError('--secret cannot be combined with other changes.', EXIT.usage)
      const text = secret === undefined ? await textAfter(scope, assignments, { file, remove }) : null
      const answer = await request(
        graphql(`query VarsImpact($input: VarsImpactInput!) {
          varsImpact(input: $input) {
            __typename ... on Error { code message } ... on InvalidInputError { issues { path message } }
            ... on VarsImpact { nodeCount changedCount vars { name nodeCount examples { nodeName before { value { json isSecret } } after { value { json isSecret } } } } }
          }
        }`),
        { input: { ...ids, text, secret: secret ?? null } },
      )
      const impact = orThrow(answer.varsImpact)
      if (!isTable(output)) return printObject(impact, output)
      process.stderr.write(`Changes values on ${impact.changedCount} of ${count(impact.nodeCount, 'node')} of ${label}.\n`)
      const value = (each: Parameters<typeof shown>[0]) => (each ? shown(each) : '(not set)')
      printRows(
        impact.vars,
        [
          { title: 'NAME', value: (each) => each.name },
          { title: 'NODES', value: (each) => each.nodeCount },
          {
            title: 'EXAMPLES',
            value: (each) =>
              each.examples.map((one) => `${one.nodeName}: ${value(one.before)} -> ${value(one.after)}`).join('; '),
          },
        ],
        output,
        'No values would change.',
      )
    })
