import { Command } from 'commander'
import { request } from '../../client.ts'
import { orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { ask, readStdin } from '../../prompt.ts'
import { type Place, readScope, withPlace, withReason } from './scope.ts'

type Options = Place & { reason?: string; stdin?: true; unset?: true }

export const varsSecret = () =>
  withReason(
    withPlace(
      new Command('secret')
        .description('set a secret variable, asked for or read, never given as an argument; runs get its value, nobody else')
        .argument('<name>')
        .option('--stdin', 'read its value from standard input')
        .option('--unset', 'take it away'),
    ),
  ).action(async (name: string, { stdin, unset, reason, ...place }: Options) => {
    const { ids, label } = await readScope(place)
    const input = { ...ids, name, ...(reason ? { reason } : {}) }
    if (unset) {
      const { unsetSecretVar } = await request(
        graphql(`mutation VarsUnsetSecret($input: UnsetSecretVarInput!) {
          unsetSecretVar(input: $input) { __typename ... on VariableScope { version } ... on Error { code message } ... on InvalidInputError { issues { path message } } }
        }`),
        { input },
      )
      orThrow(unsetSecretVar)
    } else {
      const value = stdin ? await readStdin() : await ask(`Value of ${name}`, '--stdin', { hidden: true })
      const { setSecretVar } = await request(
        graphql(`mutation VarsSetSecret($input: SetSecretVarInput!) {
          setSecretVar(input: $input) { __typename ... on VariableScope { version } ... on Error { code message } ... on InvalidInputError { issues { path message } } }
        }`),
        { input: { ...input, value } },
      )
      orThrow(setSecretVar)
    }
    process.stderr.write(`${unset ? 'Took away' : 'Set'} the secret variable ${name} of ${label}.\n`)
  })
