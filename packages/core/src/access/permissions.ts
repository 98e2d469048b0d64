import { definePermissions } from '../kernel/permissions.ts'

export const memberPermissions = definePermissions('member', {
  read: ['viewer', 'List members and their roles.'],
  write: ['admin', 'Invite and remove members, create service accounts and change roles, up to your own permissions.'],
  transferOwnership: ['owner', 'Make another member the owner.'],
  resetSignIn: ['system', 'Reset the sign-in of a member.'],
  changeEmail: ['system', 'Change the email address of a user.'],
  provision: ['system', 'Create and change the members that an identity provider authenticates.'],
})

export const customRolePermissions = definePermissions('role', {
  write: ['admin', 'Create, change and delete custom roles, up to your own permissions.'],
})

export const tokenPermissions = definePermissions(
  'token',
  {
    read: ['operator', 'List API tokens.'],
    write: ['operator', 'Create API tokens with up to your own permissions; revoke your own tokens.'],
    revokeAny: ['admin', 'Revoke API tokens of other users.'],
  },
  { stepUp: ['write'] },
)

export const sessionPermissions = definePermissions('session', {
  prune: ['system', 'Delete expired sessions.'],
})

export const tenantPermissions = definePermissions(
  'tenant',
  {
    read: [
      'viewer',
      'Read nodes, groups, variables, templates, runs, logs, agents, alerts and settings. Every role includes it.',
    ],
    setStepUp: ['owner', 'Set the time after which members must confirm their identity for sensitive changes.'],
    create: ['installation', 'Create tenants.'],
    manage: ['installation', 'List, rename, suspend and resume tenants, and set their quotas.'],
    delete: ['installation', 'Delete tenants with all their data.'],
    purge: ['system', 'Remove the data of deleted tenants.'],
  },
  { stepUp: ['setStepUp'] },
)

export const installationAdminPermissions = definePermissions('installation_admin', {
  write: ['installation', 'Appoint and dismiss installation administrators.'],
})
