import { builder } from '../../builder.ts'
import { upper } from '../shared/enum-values.ts'

export const RoleType = builder.enumType('Role', {
  description: 'What a member or API token may do; each role includes the ones before it.',
  values: upper({
    viewer: 'Sees everything, changes nothing.',
    operator: 'Adds nodes, approves host keys, starts and cancels runs.',
    admin: 'Also credentials, removing nodes for good, local nodes and members.',
    owner: 'Also the tenant itself.',
  }),
})
