import { request } from '../../../client.ts'
import { Command } from '../../../command.ts'
import { orThrow } from '../../../errors.ts'
import { graphql } from '../../../graphql.ts'
import { roleOption } from './role.ts'

export const memberAddServiceAccount = () =>
  new Command('add-service-account')
    .description(
      'create a member for programs, which owns API tokens (`muster token create --service-account`) and cannot sign in',
    )
    .argument('<name>', 'purpose of the account')
    .addOption(roleOption().default('viewer'))
    .action(async (name: string, { role }: { role: string }) => {
      const { createServiceAccount } = await request(
        graphql(`mutation ServiceAccountCreate($input: CreateServiceAccountInput!) {
          createServiceAccount(input: $input) {
            __typename ... on CreateServiceAccountPayload { member { role } } ... on Error { code message } ... on InvalidInputError { issues { path message } }
          }
        }`),
        { input: { name, role } },
      )
      process.stderr.write(`Created the service account ${name} (${orThrow(createServiceAccount).member.role}).\n`)
    })
