import { createApiToken, createRole, inviteMember } from '@muster/core/access'
import { grantablePermissions } from '@muster/core/permissions'
import { expect } from 'vitest'
import { defineIsolation, type Known, NOT_FOUND } from '../../testing/isolation.ts'
import { insertPasskey, insertSession } from '../../testing/sessions.ts'

export const isolation = defineIsolation({
  objects: async ({ t, tenant }) => ({
    ApiToken: (
      await createApiToken(tenant.owner, {
        name: 'theirs',
        role: (await createRole(tenant.owner, { name: 'custom-theirs', permissions: [] })).name,
      })
    ).apiToken,
    Invitation: (await inviteMember(tenant.owner, { email: 'invited@theirs.test', role: 'viewer' })).invitation,
    Member: (await t.runtime.db.query.members.findFirst({ where: { tenantId: tenant.tenant.id } }))!,
    User: { id: tenant.owner.actor.id! },
    Tenant: { id: tenant.tenant.id },
    Session: await insertSession(t.runtime.db, tenant.owner.actor.id!),
    Passkey: await insertPasskey(t.runtime.db, tenant.owner.actor.id!),
  }),
  cases: {
    // The stranger calls with an API token, which has no sessions.
    'Query.sessions': {
      query: () => '{ it: sessions { totalCount edges { node { id } } } }',
      answer: { it: { totalCount: 0, edges: [] } },
    },
    'Query.passkeys': {
      query: () => '{ it: passkeys { totalCount edges { node { id } } } }',
      answer: { it: { totalCount: 0, edges: [] } },
    },
    ...Object.fromEntries(
      ['renamePasskey', 'removePasskey'].map((name) => [
        `Mutation.${name}`,
        {
          query: ({ theirs }: Known) =>
            `mutation { it: ${name}(input: { id: "${theirs.Passkey}"${name === 'renamePasskey' ? ', name: "x"' : ''} }) { __typename } }`,
          answer: { it: { __typename: 'InvalidInputError' } },
        },
      ]),
    ),
    ...Object.fromEntries(
      ['find', 'approve', 'deny'].map((verb) => [
        `Mutation.${verb}DeviceSignIn`,
        {
          query: () => `mutation { it: ${verb}DeviceSignIn(input: { userCode: "BCDF-GHJK" }) { __typename } }`,
          answer: { it: NOT_FOUND },
        },
      ]),
    ),
    // The stranger calls with an API token.
    ...Object.fromEntries(
      [
        'startTotp(input: {})',
        'confirmTotp(input: { code: "123456" })',
        'removeTotp(input: {})',
        'replaceRecoveryCodes(input: {})',
        'startPasskeyRegistration(input: {})',
        'finishPasskeyRegistration(input: { challenge: "x", response: "{}", name: "x" })',
        'disconnectIdentity(input: { kind: OIDC })',
        'startPasskeyConfirmation',
        'confirmIdentity(input: { password: "x" })',
      ].map((call) => [
        `Mutation.${call.split('(')[0]}`,
        { query: () => `mutation { it: ${call} { __typename } }`, answer: { it: { __typename: 'InvalidInputError' } } },
      ]),
    ),
    'Mutation.checkSignInMethod': {
      query: () => 'mutation { it: checkSignInMethod(input: { kind: OIDC }) { __typename } }',
      answer: { it: NOT_FOUND },
    },
    'Mutation.endSession': {
      query: ({ theirs }) => `mutation { it: endSession(input: { id: "${theirs.Session}" }) { __typename } }`,
      answer: { it: NOT_FOUND },
    },
    'Mutation.endOtherSessions': {
      query: () => 'mutation { it: endOtherSessions { __typename ... on EndOtherSessionsPayload { endedCount } } }',
      answer: { it: { __typename: 'EndOtherSessionsPayload', endedCount: 0 } },
    },
    // The stranger's own token.
    'Query.apiTokens': {
      query: () => '{ it: apiTokens { edges { node { name } } } }',
      answer: { it: { edges: [{ node: { name: 'test owner' } }] } },
    },
    'Query.permissions': {
      query: () => '{ it: permissions { name } }',
      answer: { it: grantablePermissions().map(({ name }) => ({ name })) },
    },
    // Names of roles mean nothing in another tenant.
    'Query.roles': {
      query: () => '{ it: roles { name deleteBlockedReason } }',
      answer: {
        it: ['viewer', 'operator', 'admin', 'owner'].map((name) => ({ name, deleteBlockedReason: expect.any(String) })),
      },
    },
    'Mutation.createRole': {
      query: () =>
        'mutation { it: createRole(input: { name: "theirs", permissions: [] }) { __typename ... on CreateRolePayload { role { name } } } }',
      answer: { it: { __typename: 'CreateRolePayload', role: { name: 'theirs' } } },
    },
    'Mutation.updateRole': {
      query: () => 'mutation { it: updateRole(input: { name: "custom-theirs", description: "changed" }) { __typename } }',
      answer: { it: NOT_FOUND },
    },
    'Mutation.deleteRole': {
      query: () => 'mutation { it: deleteRole(input: { name: "custom-theirs" }) { __typename } }',
      answer: { it: NOT_FOUND },
    },
    'Query.tenants': { query: () => '{ it: tenants { totalCount } }', code: 'FORBIDDEN', isOwner: true },
    'Query.installationAdmins': { query: () => '{ it: installationAdmins { totalCount } }', code: 'FORBIDDEN', isOwner: true },
    'Mutation.appointInstallationAdmin': {
      query: () => 'mutation { it: appointInstallationAdmin(input: { email: "theirs@muster.test" }) { __typename } }',
      answer: { it: { __typename: 'ForbiddenError' } },
      isOwner: true,
    },
    'Mutation.dismissInstallationAdmin': {
      query: ({ theirs }: Known) =>
        `mutation { it: dismissInstallationAdmin(input: { userId: "${theirs.User}" }) { __typename } }`,
      answer: { it: { __typename: 'ForbiddenError' } },
      isOwner: true,
    },
    'Mutation.createTenant': {
      query: () => 'mutation { it: createTenant(input: { name: "theirs" }) { __typename } }',
      answer: { it: { __typename: 'ForbiddenError' } },
      isOwner: true,
    },
    ...Object.fromEntries(
      ['updateTenant', 'suspendTenant', 'resumeTenant', 'deleteTenant'].map((name) => [
        `Mutation.${name}`,
        {
          query: ({ theirs }: Known) => `mutation { it: ${name}(input: { id: "${theirs.Tenant}" }) { __typename } }`,
          answer: { it: { __typename: 'ForbiddenError' } },
          isOwner: true,
        },
      ]),
    ),
    'Query.members': {
      query: () => '{ it: members(first: 1) { totalCount edges { node { role } } } }',
      answer: { it: { totalCount: 4, edges: [{ node: { role: 'owner' } }] } },
    },
    'Query.invitations': {
      query: () => '{ it: invitations { totalCount edges { node { id } } } }',
      answer: { it: { totalCount: 0, edges: [] } },
    },
    'Mutation.inviteMember': {
      query: () =>
        'mutation { it: inviteMember(input: { email: "invited@theirs.test", role: "viewer" }) { __typename ... on InviteMemberPayload { invitation { email } } } }',
      answer: { it: { __typename: 'InviteMemberPayload', invitation: { email: 'invited@theirs.test' } } },
    },
    'Mutation.revokeInvitation': {
      query: ({ theirs }) => `mutation { it: revokeInvitation(input: { id: "${theirs.Invitation}" }) { __typename } }`,
      answer: { it: NOT_FOUND },
    },
    'Mutation.createServiceAccount': {
      query: () =>
        'mutation { it: createServiceAccount(input: { name: "x", role: "viewer" }) { __typename ... on CreateServiceAccountPayload { member { role } } } }',
      answer: { it: { __typename: 'CreateServiceAccountPayload', member: { role: 'viewer' } } },
    },
    'Mutation.changeMemberRole': {
      query: ({ theirs }) =>
        `mutation { it: changeMemberRole(input: { id: "${theirs.Member}", role: "viewer" }) { __typename } }`,
      answer: { it: NOT_FOUND },
    },
    'Mutation.suspendMember': {
      query: ({ theirs }) => `mutation { it: suspendMember(input: { id: "${theirs.Member}" }) { __typename } }`,
      answer: { it: NOT_FOUND },
    },
    'Mutation.resumeMember': {
      query: ({ theirs }) => `mutation { it: resumeMember(input: { id: "${theirs.Member}" }) { __typename } }`,
      answer: { it: NOT_FOUND },
    },
    'Mutation.removeMember': {
      query: ({ theirs }) => `mutation { it: removeMember(input: { id: "${theirs.Member}" }) { __typename } }`,
      answer: { it: NOT_FOUND },
    },
    'Mutation.transferOwnership': {
      query: ({ theirs }) => `mutation { it: transferOwnership(input: { id: "${theirs.Member}" }) { __typename } }`,
      answer: { it: NOT_FOUND },
    },
    'Mutation.setStepUp': {
      query: () =>
        'mutation { it: setStepUp(input: { minutes: 15 }) { __typename ... on SetStepUpPayload { tenant { stepUpMinutes } } } }',
      answer: { it: { __typename: 'SetStepUpPayload', tenant: { stepUpMinutes: 15 } } },
    },
    'Mutation.switchTenant': {
      query: ({ theirs }) => `mutation { it: switchTenant(input: { tenantId: "${theirs.Tenant}" }) { __typename } }`,
      // The stranger has an API token.
      answer: { it: { __typename: 'InvalidInputError' } },
    },
    'Mutation.setPassword': {
      query: () => 'mutation { it: setPassword(input: { password: "long enough for all" }) { __typename } }',
      answer: { it: { __typename: 'InvalidInputError' } },
    },
    'Mutation.createApiToken': {
      query: () =>
        'mutation { it: createApiToken(input: { name: "x", role: "viewer" }) { __typename ... on CreateApiTokenPayload { apiToken { role } } } }',
      answer: { it: { __typename: 'CreateApiTokenPayload', apiToken: { role: 'viewer' } } },
    },
    'Mutation.revokeApiToken': {
      query: ({ theirs }) => `mutation { it: revokeApiToken(input: { id: "${theirs.ApiToken}" }) { __typename } }`,
      answer: { it: NOT_FOUND },
    },
  },
})
