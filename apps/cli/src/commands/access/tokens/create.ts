import { request } from '../../../client.ts'
import { Command } from '../../../command.ts'
import { orThrow } from '../../../errors.ts'
import { graphql } from '../../../graphql.ts'
import { groupId } from '../../../lookup.ts'
import { commaList, integer } from '../../../options.ts'
import { findMember } from '../members/find-member.ts'
import { roleOption } from '../members/role.ts'

type Options = {
  role: string
  permissions?: string[]
  group?: string[]
  days?: number
  network?: string[]
  serviceAccount?: string
  jwt?: boolean
}

export const tokenCreate = () =>
  new Command('create')
    .description('create an API token; it is printed once, on standard output')
    .argument('<name>', 'purpose of the token')
    .addOption(roleOption().default('viewer'))
    .option(
      '--permissions <names>',
      'of the permissions of the role, those that the token has, such as job_run:start,job_run:cancel; repeatable (default: all)',
      commaList,
    )
    .option(
      '--group <names>',
      'groups for whose nodes it has permissions other than to read; repeatable (default: all nodes)',
      commaList,
    )
    .option('--days <n>', 'days until the token expires, at most API_TOKEN_MAX_DAYS (default: 90)', integer)
    .option('--network <cidr>', 'accept the token only from this address or network, such as 10.0.0.0/8; repeatable', commaList)
    .option('--service-account <name>', 'service account that owns the token (default: you)')
    .option('--jwt', 'print the token as a JWT, for tools that send only those')
    .action(async (name: string, { role, permissions, group, days, network, serviceAccount, jwt: isJwt }: Options) => {
      const { createApiToken } = await request(
        graphql(`mutation TokenCreate($input: CreateApiTokenInput!) {
          createApiToken(input: $input) {
            __typename ... on CreateApiTokenPayload { secret jwt apiToken { prefix expiresAt } } ... on Error { code message } ... on InvalidInputError { issues { path message } }
          }
        }`),
        {
          input: {
            name,
            role,
            ...(permissions ? { permissions } : {}),
            ...(group ? { nodeGroupIds: await Promise.all(group.map(groupId)) } : {}),
            ...(days ? { expiresInSeconds: days * 86_400 } : {}),
            ...(network ? { networks: network } : {}),
            ...(serviceAccount ? { serviceAccountId: (await findMember(serviceAccount)).id } : {}),
          },
        },
      )
      const { secret, jwt, apiToken } = orThrow(createApiToken)
      process.stdout.write(`${isJwt ? jwt : secret}\n`)
      process.stderr.write(
        `Created ${apiToken.prefix}… (${role}), expires ${apiToken.expiresAt}. Save it now; it is not shown again.\n`,
      )
    })
