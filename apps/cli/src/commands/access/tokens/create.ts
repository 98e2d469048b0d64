import { request } from '../../../client.ts'
import { Command } from '../../../command.ts'
import { orThrow } from '../../../errors.ts'
import { graphql } from '../../../graphql.ts'
import { integer, oneOf } from '../../../options.ts'

type Options = { role: 'VIEWER' | 'OPERATOR' | 'ADMIN' | 'OWNER'; days?: number }

export const tokenCreate = () =>
  new Command('create')
    .description('create an API token; it is printed once, on standard output')
    .argument('<name>', 'purpose of the token')
    .option(
      '--role <role>',
      'VIEWER, OPERATOR, ADMIN or OWNER, at most your own role',
      oneOf('VIEWER', 'OPERATOR', 'ADMIN', 'OWNER'),
      'VIEWER',
    )
    .option('--days <n>', 'days until it expires, at most 3650 (default: never)', integer)
    .action(async (name: string, { role, days }: Options) => {
      const { createApiToken } = await request(
        graphql(`mutation TokenCreate($input: CreateApiTokenInput!) {
          createApiToken(input: $input) {
            __typename ... on CreateApiTokenPayload { secret apiToken { prefix expiresAt } } ... on Error { code message } ... on InvalidInputError { issues { path message } }
          }
        }`),
        { input: { name, role, ...(days ? { expiresInSeconds: days * 86_400 } : {}) } },
      )
      const { secret, apiToken } = orThrow(createApiToken)
      process.stdout.write(`${secret}\n`)
      process.stderr.write(
        `Created ${apiToken.prefix}… (${role}), expires ${apiToken.expiresAt ?? 'never'}. Save it now; it is not shown again.\n`,
      )
    })
