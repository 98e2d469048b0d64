import { request } from '../../../client.ts'
import { Command } from '../../../command.ts'
import { orThrow } from '../../../errors.ts'
import { graphql } from '../../../graphql.ts'

export const tenantCreate = () =>
  new Command('create')
    .description('create a tenant; you become its owner')
    .argument('<name>')
    .action(async (name: string) => {
      const { createTenant } = await request(
        graphql(`mutation TenantCreate($input: CreateTenantInput!) {
          createTenant(input: $input) { __typename ... on CreateTenantPayload { tenant { name } } ... on Error { code message } ... on InvalidInputError { issues { path message } } }
        }`),
        { input: { name } },
      )
      orThrow(createTenant)
      process.stderr.write(`Created ${name}. Sign in to it with \`muster login URL --tenant ${JSON.stringify(name)}\`.\n`)
    })
