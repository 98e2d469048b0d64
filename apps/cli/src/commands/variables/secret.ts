import { request } from '../../client.ts'
import { Command } from '../../command.ts'
import { orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { prompt, readStdin } from '../../prompt.ts'
import { readScope, type ScopeOptions, withReason, withScope } from './scope.ts'

type Options = ScopeOptions & { reason?: string; stdin?: true; unset?: true }

export const varsSecret = () =>
  withReason(
    withScope(
      new Command('secret')
        .description('set a secret variable; asks for its value, which only runs receive')
        .argument('<name>')
        .option('--stdin', 'read the value from standard input')
        .option('--unset', 'delete the variable'),
    ),
  ).action(async (name: string, { stdin, unset, reason, ...scopeOptions }: Options) => {
    const { ids, label } = await readScope(scopeOptions)
    const input = { ...ids, name, ...(reason ? { reason } : {}) }
    if (unset) {
      const { unsetSecretVar } = await request(
        graphql(`mutation VarsUnsetSecret($input: UnsetSecretVarInput!) {
          unsetSecretVar(input: $input) { __typename ... on UnsetSecretVarPayload { variableScope { version } } ... on Error { code message } ... on InvalidInputError { issues { path message } } }
        }`),
        { input },
      )
      orThrow(unsetSecretVar)
    } else {
      const value = stdin ? await readStdin() : await prompt(`Value of ${name}`, '--stdin', { hidden: true })
      const { setSecretVar } = await request(
        graphql(`mutation VarsSetSecret($input: SetSecretVarInput!) {
          setSecretVar(input: $input) { __typename ... on SetSecretVarPayload { variableScope { version } } ... on Error { code message } ... on InvalidInputError { issues { path message } } }
        }`),
        { input: { ...input, value } },
      )
      orThrow(setSecretVar)
    }
    process.stderr.write(`${unset ? 'Deleted' : 'Saved'} the secret variable ${name} of ${label}.\n`)
  })
