import { builder } from '../../builder.ts'
import { same, upper } from '../shared/enum-values.ts'

export const RoleType = builder.enumType('Role', {
  description: 'Permissions of a member or API token. Each role includes the roles before it.',
  values: upper({
    viewer: 'Reads everything and changes nothing.',
    operator: 'Adds nodes, approves host keys, starts and cancels runs.',
    admin: 'Also manages credentials, members and local nodes, and purges nodes.',
    owner: 'Also manages the tenant itself.',
  }),
})

export const ViewerKind = builder.enumType('ViewerKind', {
  description: 'How a caller is authenticated.',
  values: same({ USER: 'A user with a session.', API_TOKEN: 'A program with an API token.' }),
})
