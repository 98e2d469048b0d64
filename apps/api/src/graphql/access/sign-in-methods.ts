import { type GroupRole, sessionAudit, signInMethodAudit, userAudit } from '@muster/core/access'
import { authorize, permissionDeniedReason } from '@muster/core/context'
import {
  Conflict,
  Forbidden,
  InvalidInput,
  NotFound,
  SecondFactorRequired,
  StepUpRequired,
  Unauthenticated,
  Unavailable,
} from '@muster/core/errors'
import { systemPermissions } from '@muster/core/system'
import { builder } from '../../builder.ts'
import { same } from '../shared/enum-values.ts'
import { mutation } from '../shared/mutation.ts'
import { SystemCheck } from '../system/types.ts'
import { session } from './mutations.ts'

export const SignInMethodKind = builder.enumType('SignInMethodKind', {
  description: 'How users authenticate.',
  values: same({
    PASSWORD: 'Email address and password, stored in Muster.',
    OIDC: 'An OpenID Connect provider.',
    LDAP: 'Name and password of an LDAP directory.',
    PASSKEY: 'A passkey (WebAuthn) of the device, a password manager or a security key.',
  }),
})
type Method = { kind: typeof SignInMethodKind.$inferType; name: string | null; details: MethodDetails | null }
type MethodDetails = { address: string; redirectUri: string | null; groupRoles: GroupRole[] }

const SignInGroupRole = builder.objectRef<GroupRole>('SignInGroupRole').implement({
  description: 'Members of a group of the identity provider get a role in a tenant when they sign in.',
  fields: (t) => ({
    group: t.exposeString('group', { description: 'Name of the group at the provider.' }),
    tenant: t.exposeString('tenant', { nullable: true, description: 'Name of the tenant; null for MUSTER_TENANT_NAME.' }),
    role: t.exposeString('role', { description: 'Name of the role in the tenant.' }),
  }),
})

const SignInMethodDetails = builder.objectRef<MethodDetails>('SignInMethodDetails').implement({
  description: 'Settings of a sign-in method. Secrets are not shown.',
  fields: (t) => ({
    address: t.exposeString('address', { description: 'Address of the provider.' }),
    redirectUri: t.exposeString('redirectUri', {
      nullable: true,
      description: 'Redirect URI to register at the provider; null when the method needs none.',
    }),
    groupRoles: t.field({
      type: [SignInGroupRole],
      description:
        'Roles of groups; at most 1,000. A user in several groups of a tenant gets the role with the most permissions.',
      resolve: ({ groupRoles }) => groupRoles,
    }),
  }),
})

const SignInMethod = builder.objectRef<Method>('SignInMethod').implement({
  description: 'A way to sign in that this installation offers.',
  fields: (t) => ({
    kind: t.expose('kind', { type: SignInMethodKind, description: 'How users authenticate.' }),
    name: t.exposeString('name', {
      nullable: true,
      description: 'Display name of the provider; null for passwords and passkeys.',
    }),
    details: t.field({
      type: SignInMethodDetails,
      nullable: true,
      description: 'Settings of the provider; null for passwords and passkeys, and without the permission `system:check`.',
      resolve: ({ details }, _args, { caller }) =>
        caller && !permissionDeniedReason(caller.actor, systemPermissions.check) ? details : null,
    }),
  }),
})

builder.queryField('signInMethods', (t) =>
  t.field({
    type: [SignInMethod],
    description: 'The sign-in methods of the installation; at most one of each kind.',
    authScopes: { public: true },
    resolve: (_root, _args, { deps: { auth } }): Method[] => [
      { kind: 'PASSWORD', name: null, details: null },
      ...(auth.passkeysBlockedReason ? [] : [{ kind: 'PASSKEY' as const, name: null, details: null }]),
      ...(auth.oidc
        ? [
            {
              kind: 'OIDC' as const,
              name: auth.oidc.name,
              details: { address: auth.oidc.issuer, redirectUri: auth.oidc.redirectUri, groupRoles: auth.oidc.roles },
            },
          ]
        : []),
      ...(auth.ldap
        ? [
            {
              kind: 'LDAP' as const,
              name: auth.ldap.name,
              details: { address: auth.ldap.address, redirectUri: null, groupRoles: auth.ldap.roles },
            },
          ]
        : []),
    ],
  }),
)

mutation('checkSignInMethod', {
  action: signInMethodAudit.check,
  description: 'Checks whether a sign-in method works, without signing in.',
  input: (t) => ({ kind: t.field({ type: SignInMethodKind, required: true, description: 'The method.' }) }),
  payload: { findings: { type: [SystemCheck], description: 'Results of the check; at most 5.' } },
  errors: [NotFound],
  resolve: async ({ kind }, { ctx, deps: { auth } }) => {
    authorize(ctx, systemPermissions.check)
    const checked = { PASSWORD: null, PASSKEY: null, OIDC: auth.oidc, LDAP: auth.ldap }[kind]
    if (!checked) throw new NotFound(`The sign-in method ${kind} is not configured, or has nothing to check.`)
    return { findings: (await checked.check()).map((finding) => ({ ...finding, source: 'API' })) }
  },
})

mutation('startOidcSignIn', {
  action: userAudit.startOidcSignIn,
  isStep: true,
  description:
    'Starts a sign-in at the OpenID Connect provider. Sets a cookie that binds it to the browser for ten minutes. The browser opens `url` and returns to /sign-in/oidc.',
  authScopes: { public: true },
  input: (t) => ({
    connect: t.boolean({
      description: 'Whether to connect the identity at the provider to the signed-in user instead of signing in. Default: false.',
    }),
    confirm: t.boolean({
      description:
        'Confirms the identity of the signed-in user, see `confirmIdentity`: the provider asks the user again. Default: false.',
    }),
    currentPassword: t.string({ description: 'With `connect`: the current password; required when the user has one.' }),
  }),
  payload: { url: { type: 'String', description: 'Address of the provider.' } },
  errors: [NotFound, InvalidInput, StepUpRequired, Unavailable],
  resolve: (input, context) => context.deps.auth.startOidcSignIn(context, input),
})

mutation('finishOidcSignIn', {
  action: sessionAudit.create,
  description:
    'Signs in with the response of the OpenID Connect provider. Creates the user at the first sign-in, and applies the roles of its groups.',
  authScopes: { public: true },
  input: (t) => ({
    response: t.string({
      required: true,
      description: 'Query string with which the provider sent the browser to /sign-in/oidc.',
    }),
  }),
  payload: session,
  errors: [NotFound, Unauthenticated, Unavailable, InvalidInput, Conflict, Forbidden, SecondFactorRequired],
  resolve: ({ response }, context) => context.deps.auth.finishOidcSignIn(context, response),
})

mutation('signInWithLdap', {
  action: sessionAudit.create,
  description:
    'Signs in with the name and password of an LDAP directory. Creates the user at the first sign-in, and applies the roles of its groups.',
  authScopes: { public: true },
  input: (t) => ({
    userName: t.string({ required: true, description: 'Name of the user in the directory.' }),
    password: t.string({ required: true, description: 'Password of the user in the directory.' }),
    connect: t.boolean({
      description: 'Whether to connect the entry of the directory to the signed-in user instead of signing in. Default: false.',
    }),
    currentPassword: t.string({ description: 'With `connect`: the current password in Muster; required when the user has one.' }),
  }),
  payload: session,
  errors: [NotFound, Unauthenticated, Unavailable, InvalidInput, Conflict, Forbidden, SecondFactorRequired, StepUpRequired],
  resolve: (input, context) => context.deps.auth.signInWithLdap(context, input),
})
