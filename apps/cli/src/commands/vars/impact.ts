import { Command } from 'commander'
import { request } from '../../client.ts'
import { CliError, EXIT, orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { type Format, outputOption, printObject, printRows } from '../../output.ts'
import { type Place, readScope, shown, withPlace } from './scope.ts'
import { type Edit, textAfter, withEdit } from './set.ts'

type Options = Place & Edit & { secret?: string; output: Format }

export const varsImpact = () =>
  withPlace(withEdit(new Command('impact').description('on which nodes an edit would change something; nothing is saved')))
    .option('--secret <name>', 'instead: which nodes would get another value of this secret variable')
    .addOption(outputOption())
    .action(async (assignments: string[], { file, remove, secret, output, ...place }: Options) => {
      const scope = await readScope(place)
      const { ids, label } = scope
      if (secret !== undefined && (file ?? remove ?? assignments[0]) !== undefined)
        throw new CliError('--secret goes with nothing else that would change.', EXIT.usage)
      const text = secret === undefined ? await textAfter(scope, assignments, { file, remove }) : null
      const answer = await request(
        graphql(`query VarsImpact($groupId: ID, $nodeId: ID, $text: String, $secret: String) {
          varsImpact(groupId: $groupId, nodeId: $nodeId, text: $text, secret: $secret) {
            __typename ... on Error { code message } ... on InvalidInputError { issues { path message } }
            ... on VarsImpact { nodeCount changedCount vars { name nodeCount examples { node before { value isSecret } after { value isSecret } } } }
          }
        }`),
        { groupId: ids.groupId ?? null, nodeId: ids.nodeId ?? null, text, secret: secret ?? null },
      )
      const impact = orThrow(answer.varsImpact)
      if (output !== 'table') return printObject(impact, output)
      process.stderr.write(`Changes ${impact.changedCount} of the ${impact.nodeCount} nodes of ${label}.\n`)
      const value = (each: Parameters<typeof shown>[0]) => (each ? shown(each) : '(not set)')
      printRows(
        impact.vars,
        [
          { title: 'NAME', value: (each) => each.name },
          { title: 'NODES', value: (each) => each.nodeCount },
          {
            title: 'EXAMPLES',
            value: (each) => each.examples.map((one) => `${one.node}: ${value(one.before)} -> ${value(one.after)}`).join('; '),
          },
        ],
        output,
        'No value would change.',
      )
    })
