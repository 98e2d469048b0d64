import { Command } from 'commander'
import { request } from '../../client.ts'
import { CliError, EXIT, orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { enrolmentTokens } from './list.ts'

export const agentTokenRevoke = () =>
  new Command('revoke')
    .description('let nobody register with a token any more that nobody has used yet')
    .argument('<token>', 'how it begins, as `muster agent token list` shows it')
    .action(async (prefix: string) => {
      const token = (await enrolmentTokens(true)).find((each) => each.prefix === prefix)
      if (!token) throw new CliError(`No token begins with ${prefix}. See \`muster agent token list --all\`.`, EXIT.notFound)
      const { revokeAgentEnrolmentToken } = await request(
        graphql(`mutation AgentTokenRevoke($id: ID!) {
          revokeAgentEnrolmentToken(id: $id) { __typename ... on AgentEnrolmentToken { prefix } ... on Error { code message } }
        }`),
        { id: token.id },
      )
      process.stderr.write(`Revoked ${orThrow(revokeAgentEnrolmentToken).prefix}….\n`)
    })
