import { request } from '../../../client.ts'
import { Command, type Output } from '../../../command.ts'
import { orThrow } from '../../../errors.ts'
import { graphql } from '../../../graphql.ts'
import { oneOf } from '../../../options.ts'
import { printRows } from '../../../output.ts'

const TEST = graphql(`mutation CheckSignInMethod($input: CheckSignInMethodInput!) {
  checkSignInMethod(input: $input) {
    __typename
    ... on CheckSignInMethodPayload { findings { severity message nextStep } }
    ... on Error { code message }
  }
}`)
const KINDS = oneOf('OIDC', 'LDAP')

export const signInTest = () =>
  new Command('test')
    .description('check whether a sign-in method works; exit code 1 when it does not')
    .argument('<method>', 'OIDC or LDAP', KINDS)
    .withOutput()
    .action(async (kind: ReturnType<typeof KINDS>, output: Output) => {
      const { findings } = orThrow((await request(TEST, { input: { kind } })).checkSignInMethod)
      printRows(
        findings,
        [
          { title: 'RESULT', value: ({ severity }) => severity.toLowerCase() },
          { title: 'MESSAGE', value: ({ message, nextStep }) => (nextStep ? `${message} Next step: ${nextStep}` : message) },
        ],
        output,
        'No findings.',
      )
      if (findings.some(({ severity }) => severity === 'ERROR')) process.exitCode = 1
    })
