import { findSignInMethods, memberPermissions, type Removable, removalBlockedReason, userAudit } from '@muster/core/access'
import { permissionDeniedReason } from '@muster/core/context'
import { Conflict, NotFound, Unavailable } from '@muster/core/errors'
import { builder } from '../../builder.ts'
import { loader } from '../shared/loaders.ts'
import { mutation } from '../shared/mutation.ts'
import { Member } from './people.ts'
import { SignInMethodKind } from './sign-in-methods.ts'
import { Viewer } from './types.ts'

type Kind = typeof SignInMethodKind.$inferType
type Identity = { kind: Kind; name: string | null; count: number; removeBlockedReason: string | null }

const loadMethods = loader(({ deps }, userIds) => findSignInMethods(deps.runtime.db, userIds))

const PROVIDERS = { PASSWORD: 'credential', OIDC: 'oidc', LDAP: 'ldap', PASSKEY: 'passkey' } satisfies Record<Kind, Removable>

const IdentityType = builder.objectRef<Identity>('UserSignInMethod').implement({
  description: 'A way in which a user can sign in.',
  fields: (t) => ({
    kind: t.expose('kind', { type: SignInMethodKind, description: 'Kind of the method.' }),
    name: t.exposeString('name', {
      nullable: true,
      description: 'Issuer of the OpenID Connect identity, or ID of the entry in the LDAP directory; null for others.',
    }),
    count: t.exposeInt('count', { description: 'Number of passkeys, or of identities at the provider.' }),
    removeBlockedReason: t.exposeString('removeBlockedReason', {
      nullable: true,
      description: 'Why the user may not remove the method, for example because it is the last one; null when allowed.',
    }),
  }),
})

/** The sign-in methods of a user, one entry per kind. */
async function methodsOf(context: Parameters<typeof loadMethods>[0], userId: string): Promise<Identity[]> {
  const methods = await loadMethods(context, userId)
  if (!methods) return []
  const { hasPassword, identities, passkeyCount } = methods
  const entry = (kind: Kind, count: number, name: string | null = null): Identity[] =>
    count === 0
      ? []
      : [{ kind, name, count, removeBlockedReason: removalBlockedReason(methods, PROVIDERS[kind], context.deps.auth.providers) }]
  const [oidc, ldap] = (['oidc', 'ldap'] as const).map((kind) => identities.filter(({ provider }) => provider === kind))
  return [
    ...entry('PASSWORD', hasPassword ? 1 : 0),
    ...entry('PASSKEY', passkeyCount),
    ...entry('OIDC', oidc!.length, oidc![0]?.name),
    ...entry('LDAP', ldap!.length, ldap![0]?.name),
  ]
}

builder.objectField(Viewer, 'signInMethods', (t) =>
  t.field({
    type: [IdentityType],
    description: 'The ways in which the user can sign in, at most one entry per kind. Empty for API tokens.',
    resolve: ({ actor }, _args, context) => (actor.kind === 'user' ? methodsOf(context, actor.id) : []),
  }),
)

builder.objectField(Viewer, 'addPasskeyBlockedReason', (t) =>
  t.string({
    nullable: true,
    description: 'Why the user cannot add a passkey, for example without HTTPS; null when possible.',
    resolve: ({ actor }, _args, { deps }) =>
      actor.kind === 'user' ? deps.auth.passkeysBlockedReason : 'An API token has no passkeys.',
  }),
)

builder.drizzleObjectFields(Member, (t) => ({
  signInMethods: t.field({
    type: [IdentityType],
    nullable: true,
    description:
      'The ways in which the member can sign in, at most one entry per kind; null without the permission `member:write`.',
    select: { columns: { userId: true } },
    resolve: async ({ userId }, _args, context) =>
      permissionDeniedReason(context.ctx.actor, memberPermissions.write) ? null : methodsOf(context, userId),
  }),
  hasSecondFactor: t.boolean({
    nullable: true,
    description:
      'Whether signing in with a password requires a code of an authenticator app; null without the permission `member:write`.',
    select: { columns: { userId: true } },
    resolve: async ({ userId }, _args, context) =>
      permissionDeniedReason(context.ctx.actor, memberPermissions.write)
        ? null
        : ((await loadMethods(context, userId))?.hasSecondFactor ?? false),
  }),
}))

mutation('disconnectIdentity', {
  action: userAudit.disconnectIdentity,
  description:
    'Removes the password of the signed-in user, or its identities at a provider. Sessions stay. The last way to sign in cannot be removed; passkeys are removed with `removePasskey`.',
  input: (t) => ({
    kind: t.field({ type: SignInMethodKind, required: true, description: 'What to remove: PASSWORD, OIDC or LDAP.' }),
    currentPassword: t.string({ description: 'Current password; required when the user has one.' }),
  }),
  payload: { viewer: { type: Viewer, description: 'The signed-in user.' } },
  errors: [NotFound, Conflict, Unavailable],
  resolve: async ({ kind, currentPassword }, context) => ({
    viewer: await context.deps.auth.disconnectIdentity(context, { provider: PROVIDERS[kind], currentPassword }),
  }),
})
