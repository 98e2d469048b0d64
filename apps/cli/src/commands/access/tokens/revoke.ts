import { request } from '../../../client.ts'
import { Command } from '../../../command.ts'
import { CliError, EXIT, orThrow } from '../../../errors.ts'
import { graphql } from '../../../graphql.ts'
import { apiTokens } from './list.ts'

export const tokenRevoke = () =>
  new Command('revoke')
    .alias('delete')
    .description('revoke an API token and the tokens created with it')
    .argument('<token>', 'prefix of the token, see `muster token list`')
    .action(async (prefix: string) => {
      const found = (await apiTokens()).find((token) => token.prefix === prefix)
      if (!found) throw new CliError(`No API token ${prefix}. See \`muster token list --all\`.`, EXIT.notFound)
      const { revokeApiToken } = await request(
        graphql(`mutation TokenRevoke($id: ID!) {
          revokeApiToken(input: { id: $id }) { __typename ... on RevokeApiTokenPayload { apiToken { prefix name } } ... on Error { code message } }
        }`),
        { id: found.id },
      )
      const { name } = orThrow(revokeApiToken).apiToken
      process.stderr.write(`Revoked ${prefix}… (${name}).\n`)
    })
