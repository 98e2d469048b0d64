import { createApiToken, revokeApiToken, sessionAudit, userAudit } from '@muster/core/access'
import { Conflict, InvalidInput, NotFound, SecondFactorRequired, Unauthenticated, Unavailable } from '@muster/core/errors'
import { rowId, rowIdIfGiven } from '../shared/ids.ts'
import { mutation } from '../shared/mutation.ts'
import { ApiToken, Viewer } from './types.ts'

export const session = {
  viewer: { type: Viewer, description: 'The signed-in user.' },
  sessionToken: {
    type: 'String',
    description:
      'Session token for programs, sent as `Authorization: Bearer …`. It is a secret. Browsers also get it as a cookie.',
  },
} as const

mutation('signIn', {
  action: sessionAudit.create,
  description: 'Signs in with email address and password.',
  authScopes: { public: true },
  input: (t) => ({
    email: t.string({ required: true, description: 'Email address of the user.' }),
    password: t.string({ required: true, description: 'Password of the user.' }),
  }),
  payload: session,
  errors: [Unauthenticated, InvalidInput, SecondFactorRequired, Unavailable],
  resolve: (input, context) => context.deps.auth.signIn(context, input),
})

mutation('signInWithLink', {
  action: sessionAudit.create,
  description: 'Signs in with a one-time link, which is valid for 24 hours.',
  authScopes: { public: true },
  input: (t) => ({ token: t.string({ required: true, description: 'The token of the link, after `#token=`.' }) }),
  payload: session,
  errors: [Unauthenticated, Unavailable],
  resolve: ({ token }, context) => context.deps.auth.signInWithLink(context, token),
})

mutation('signOut', {
  action: sessionAudit.end,
  // Without a session, nothing ends.
  isStep: true,
  description: 'Ends the session of the caller.',
  authScopes: { public: true },
  payload: {
    wasSignedIn: { type: 'Boolean', description: 'False when there was no session.' },
    continueUrl: {
      type: 'String',
      nullable: true,
      description: 'Address at which the browser ends its session at the identity provider; null when it did not sign in there.',
    },
  },
  errors: [Unavailable],
  resolve: (_input, context) => context.deps.auth.signOut(context),
})

mutation('setPassword', {
  action: userAudit.setPassword,
  description: 'Sets the password of the signed-in user. All other sessions of the user end.',
  input: (t) => ({
    password: t.string({ required: true, description: 'New password, 12 to 128 characters.' }),
    currentPassword: t.string({ description: 'Current password; required when the user has one.' }),
    name: t.string({ description: 'New display name.' }),
    email: t.string({
      description:
        'Email address, which only the first owner chooses together with the first password, see `choosesEmail`. Others use `requestEmailChange`.',
    }),
  }),
  payload: { viewer: { type: Viewer, description: 'The signed-in user.' } },
  errors: [Conflict, Unavailable],
  resolve: async (input, context) => ({ viewer: await context.deps.auth.setPassword(context, input) }),
})

mutation('requestEmailChange', {
  action: userAudit.requestEmailChange,
  description:
    'Sends a link to a new email address of the signed-in user. The address changes with `confirmEmailChange`. Needs a mail server (SMTP_URL).',
  input: (t) => ({
    email: t.string({ required: true, description: 'New email address.' }),
    currentPassword: t.string({ description: 'Current password; required when the user has one.' }),
  }),
  payload: { email: { type: 'String', description: 'Address to which the link was sent.' } },
  errors: [Unavailable],
  resolve: async (input, context) => ({ email: await context.deps.auth.requestEmailChange(context, input) }),
})

mutation('confirmEmailChange', {
  action: userAudit.changeEmail,
  description: 'Changes the email address of the signed-in user with the link of an email, which works once within one hour.',
  input: (t) => ({ token: t.string({ required: true, description: 'The token of the link, after `#token=`.' }) }),
  payload: { viewer: { type: Viewer, description: 'The signed-in user.' } },
  errors: [NotFound, Conflict, Unavailable],
  resolve: async ({ token }, context) => ({ viewer: await context.deps.auth.confirmEmailChange(context, token) }),
})

mutation('requestPasswordReset', {
  action: userAudit.requestPasswordReset,
  description:
    'Sends a link that sets a new password to the address, if a user has it. The response is the same for all addresses. Needs a mail server (SMTP_URL).',
  authScopes: { public: true },
  input: (t) => ({ email: t.string({ required: true, description: 'Email address of the user.' }) }),
  payload: { email: { type: 'String', description: 'The given address.' } },
  errors: [InvalidInput, Unavailable],
  resolve: async ({ email }, context) => {
    await context.deps.auth.requestPasswordReset(context, email)
    return { email }
  },
})

mutation('resetPassword', {
  action: userAudit.resetPassword,
  description: 'Sets a new password with the link of a mail, which works once within one hour. All sessions of the user end.',
  authScopes: { public: true },
  input: (t) => ({
    token: t.string({ required: true, description: 'The token of the link, after `#token=`.' }),
    password: t.string({ required: true, description: 'New password, 12 to 128 characters.' }),
  }),
  payload: { wasReset: { type: 'Boolean', description: 'True.' } },
  errors: [Unauthenticated, InvalidInput, Unavailable],
  resolve: async (input, context) => {
    await context.deps.auth.resetPassword(context, input)
    return { wasReset: true }
  },
})

mutation('switchTenant', {
  description: 'Changes the tenant in which the session works. API tokens belong to one tenant.',
  input: (t) => ({ tenantId: t.id({ required: true, description: 'ID of a tenant of which the caller is an active member.' }) }),
  payload: { viewer: { type: Viewer, description: 'The caller, in the new tenant.' } },
  errors: [NotFound],
  resolve: async ({ tenantId }, context) => ({
    viewer: await context.deps.auth.switchTenant(context, rowId('Tenant', tenantId)),
  }),
})

mutation('createApiToken', {
  description: 'Creates an API token.',
  input: (t) => ({
    name: t.string({ required: true, description: 'Purpose of the token, at most 100 characters.' }),
    role: t.string({ required: true, description: 'Name of the role of the token.' }),
    permissions: t.stringList({
      description:
        'Of the permissions of the role, those that the token has, at most 200 and only ones that the caller holds. Default: all of the role.',
    }),
    nodeGroupIds: t.idList({
      description:
        'IDs of groups, at most 50: the token has permissions, other than to read, only for their nodes, and creates no tokens. Default: the whole tenant.',
    }),
    isInstallationAdmin: t.boolean({
      description:
        'Whether the token also holds the permissions of the installation; only for installation administrators. Default: false.',
    }),
    expiresInSeconds: t.int({
      description:
        'Lifetime in seconds, from 60 to API_TOKEN_MAX_DAYS of the installation. Default: 90 days. A token cannot create one that expires later than itself.',
    }),
    networks: t.stringList({
      description:
        'Networks from which the token is accepted, such as `10.0.0.0/8`; at most 50. Default: everywhere, or the networks of the token that creates it.',
    }),
    serviceAccountId: t.id({
      description: 'Member ID of the service account that owns the token. Default: the caller owns it.',
    }),
  }),
  idempotent: true,
  payload: {
    apiToken: { type: ApiToken, description: 'The new token.' },
    secret: { type: 'String', description: 'The secret, sent as `Authorization: Bearer …`. It is shown only here.' },
    jwt: {
      type: 'String',
      description:
        'The token as a signed JWT, for tools that send only those, such as the CLI of OpenCHAMI. It is as secret as the token, is shown only here, and ends with the token.',
    },
  },
  errors: [NotFound],
  resolve: async ({ serviceAccountId, nodeGroupIds, ...input }, { ctx, deps }) => {
    const { token, apiToken } = await createApiToken(
      ctx,
      {
        ...input,
        isInstallationAdmin: input.isInstallationAdmin ?? false,
        nodeGroupIds: nodeGroupIds?.map((id) => rowId('NodeGroup', id)),
        serviceAccountId: rowIdIfGiven('Member', serviceAccountId),
      },
      deps.tokenPolicy,
    )
    return { apiToken, secret: token, jwt: await deps.auth.jwtOf(apiToken) }
  },
})

mutation('revokeApiToken', {
  description: 'Revokes an API token and the tokens that it created. Requests with it are rejected within 5 seconds.',
  input: (t) => ({ id: t.id({ required: true, description: 'ID of the token.' }) }),
  payload: { apiToken: { type: ApiToken, description: 'The revoked token.' } },
  errors: [NotFound, Conflict],
  resolve: async ({ id }, { ctx, deps }) => {
    const apiToken = await revokeApiToken(ctx, { id: rowId('ApiToken', id) })
    deps.auth.clearCallerCache()
    return { apiToken }
  },
})
