import { Command } from 'commander'
import { request } from '../../client.ts'
import { orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { integer } from '../../options.ts'
import { type Place, readScope, withPlace, withReason } from './scope.ts'

export const varsRestore = () =>
  withReason(
    withPlace(
      new Command('restore')
        .description('make variables, secret ones included, what they were')
        .argument('<version>', 'its number, see `muster vars history`', integer),
    ),
  ).action(async (version: number, { reason, ...place }: Place & { reason?: string }) => {
    const { ids, label } = await readScope(place)
    const { restoreVars } = await request(
      graphql(`mutation VarsRestore($input: RestoreVarsInput!) {
        restoreVars(input: $input) { __typename ... on VariableScope { version } ... on Error { code message } ... on InvalidInputError { issues { path message } } }
      }`),
      { input: { ...ids, version, ...(reason ? { reason } : {}) } },
    )
    const restored = orThrow(restoreVars)
    process.stderr.write(`The variables of ${label} are what they were at version ${version}: version ${restored.version}.\n`)
  })
