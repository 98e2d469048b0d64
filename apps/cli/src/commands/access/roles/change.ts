import { request } from '../../../client.ts'
import { Command } from '../../../command.ts'
import { confirmAction, YES_HELP } from '../../../confirm.ts'
import { orThrow } from '../../../errors.ts'
import { graphql } from '../../../graphql.ts'
import { commaList } from '../../../options.ts'

const PERMISSIONS = [
  '--permissions <names>',
  'names such as job_run:start,node:write (see `muster role permissions`); repeatable',
] as const

type Options = { permissions?: string[]; description?: string }

export const roleCreate = () =>
  new Command('create')
    .description('create a custom role with permissions that you hold; every role includes tenant:read')
    .argument('<name>', 'lower-case letters, digits and . _ -')
    .option(...PERMISSIONS, commaList)
    .option('--description <text>', 'what the role is for')
    .action(async (name: string, { permissions = [], description }: Options) => {
      const { createRole } = await request(
        graphql(`mutation RoleCreate($input: CreateRoleInput!) {
          createRole(input: $input) {
            __typename ... on CreateRolePayload { role { name permissions } } ... on Error { code message } ... on InvalidInputError { issues { path message } }
          }
        }`),
        { input: { name, permissions, ...(description === undefined ? {} : { description }) } },
      )
      const { role } = orThrow(createRole)
      process.stderr.write(`Created the role ${role.name}: ${role.permissions.join(' ')}.\n`)
    })

export const roleUpdate = () =>
  new Command('update')
    .description('change a custom role; its members and tokens have the new permissions with their next use')
    .argument('<name>', 'name of the role')
    .option(PERMISSIONS[0], `${PERMISSIONS[1]}; replaces all (default: unchanged)`, commaList)
    .option('--description <text>', 'what the role is for (default: unchanged)')
    .action(async (name: string, { permissions, description }: Options) => {
      const { updateRole } = await request(
        graphql(`mutation RoleUpdate($input: UpdateRoleInput!) {
          updateRole(input: $input) {
            __typename ... on UpdateRolePayload { role { name permissions } } ... on Error { code message } ... on InvalidInputError { issues { path message } }
          }
        }`),
        {
          input: { name, ...(permissions ? { permissions } : {}), ...(description === undefined ? {} : { description }) },
        },
      )
      const { role } = orThrow(updateRole)
      process.stderr.write(`Changed the role ${role.name}: ${role.permissions.join(' ')}.\n`)
    })

export const roleDelete = () =>
  new Command('delete')
    .description('delete an unused custom role')
    .argument('<name>', 'name of the role')
    .option('-y, --yes', YES_HELP)
    .action(async (name: string, { yes }: { yes?: true }) => {
      await confirmAction(`Delete the role ${name}.`, yes)
      const { deleteRole } = await request(
        graphql(`mutation RoleDelete($input: DeleteRoleInput!) {
          deleteRole(input: $input) { __typename ... on DeleteRolePayload { deletedName } ... on Error { code message } }
        }`),
        { input: { name } },
      )
      orThrow(deleteRole)
      process.stderr.write(`Deleted the role ${name}.\n`)
    })
