import { request } from '../../client.ts'
import { Command } from '../../command.ts'
import { orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { integer } from '../../options.ts'
import { readScope, type ScopeOptions, withReason, withScope } from './scope.ts'

export const varsRestore = () =>
  withReason(
    withScope(
      new Command('restore')
        .description('restore an older version of variables, including secrets')
        .argument('<version>', 'version number, see `muster vars history`', integer),
    ),
  ).action(async (version: number, { reason, ...scopeOptions }: ScopeOptions & { reason?: string }) => {
    const { ids, label } = await readScope(scopeOptions)
    const { restoreVars } = await request(
      graphql(`mutation VarsRestore($input: RestoreVarsInput!) {
        restoreVars(input: $input) { __typename ... on RestoreVarsPayload { variableScope { version } } ... on Error { code message } ... on InvalidInputError { issues { path message } } }
      }`),
      { input: { ...ids, version, ...(reason ? { reason } : {}) } },
    )
    const restored = orThrow(restoreVars).variableScope
    process.stderr.write(`Restored version ${version} of the variables of ${label}: version ${restored.version}.\n`)
  })
