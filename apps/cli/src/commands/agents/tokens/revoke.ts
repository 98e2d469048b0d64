import { request } from '../../../client.ts'
import { Command } from '../../../command.ts'
import { CliError, EXIT, orThrow } from '../../../errors.ts'
import { graphql } from '../../../graphql.ts'
import { enrollmentTokens } from './list.ts'

export const agentTokenRevoke = () =>
  new Command('revoke')
    .description('revoke an unused enrollment token')
    .argument('<token>', 'its prefix, as `muster agent token list` shows it')
    .action(async (prefix: string) => {
      const token = (await enrollmentTokens(true)).find((each) => each.prefix === prefix)
      if (!token) throw new CliError(`No enrollment token ${prefix}. See \`muster agent token list --all\`.`, EXIT.notFound)
      const { revokeAgentEnrollmentToken } = await request(
        graphql(`mutation AgentTokenRevoke($id: ID!) {
          revokeAgentEnrollmentToken(input: { id: $id }) { __typename ... on RevokeAgentEnrollmentTokenPayload { agentEnrollmentToken { prefix } } ... on Error { code message } }
        }`),
        { id: token.id },
      )
      process.stderr.write(`Revoked ${orThrow(revokeAgentEnrollmentToken).agentEnrollmentToken.prefix}….\n`)
    })
