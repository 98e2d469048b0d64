import { passkeyAudit, sessionAudit, tenantPermissions } from '@muster/core/access'
import { Conflict, InvalidInput, NotFound, Unauthenticated, Unavailable } from '@muster/core/errors'
import { schema } from '@muster/core/registry'
import { eq } from 'drizzle-orm'
import { builder } from '../../builder.ts'
import { connectionTypes, PAGED } from '../shared/connections.ts'
import { same } from '../shared/enum-values.ts'
import { globalId, rowId } from '../shared/ids.ts'
import { mutation } from '../shared/mutation.ts'
import { session } from './mutations.ts'
import { userOf } from './sessions.ts'

const { passkeys } = schema

const PasskeyDeviceType = builder.enumType('PasskeyDeviceType', {
  description: 'Whether a passkey can exist on several devices.',
  values: same({
    SINGLE_DEVICE: 'The passkey stays on one device, such as a security key.',
    MULTI_DEVICE: 'A password manager or the operating system can synchronize the passkey.',
  }),
})

export const Passkey = builder.drizzleNode('passkeys', {
  name: 'Passkey',
  description: 'A passkey (WebAuthn) with which a user signs in without a password and a code.',
  select: { columns: { id: true } },
  id: { column: (passkey) => passkey.id },
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name that the user gave.' }),
    deviceType: t.field({
      type: PasskeyDeviceType,
      description: 'Whether the passkey can exist on several devices.',
      select: { columns: { deviceType: true } },
      resolve: ({ deviceType }) => (deviceType === 'multiDevice' ? 'MULTI_DEVICE' : 'SINGLE_DEVICE'),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the user added the passkey.' }),
    lastUsedAt: t.expose('lastUsedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the passkey was last used; null when it was never used.',
    }),
  }),
})
const passkeyConnection = connectionTypes(Passkey, 'Passkey', 'passkeys')

builder.queryField('passkeys', (t) =>
  t.drizzleConnection(
    {
      type: Passkey,
      description: 'Passkeys of the signed-in user, oldest first. Empty for API tokens.',
      authScopes: { permission: tenantPermissions.read },
      ...PAGED,
      totalCount: (_root, _args, { ctx, caller }) => ctx.db.$count(passkeys, eq(passkeys.userId, userOf(caller))),
      resolve: (query, _root, _args, { ctx, caller }) =>
        ctx.db.query.passkeys.findMany(query({ where: { userId: userOf(caller) } })),
    },
    ...passkeyConnection,
  ),
)

export const ceremony = {
  challenge: {
    type: 'String',
    description: 'Identifies this ceremony in its second step. It works once, for five minutes.',
  },
  options: {
    type: 'String',
    description: 'The `publicKey` options for `navigator.credentials`, in the JSON format of WebAuthn.',
  },
} as const

export const passkeyAnswer = {
  challenge: 'The `challenge` of the first step.',
  response: 'The credential that the browser returned, in the JSON format of WebAuthn (`PublicKeyCredential.toJSON`).',
}

mutation('startPasskeySignIn', {
  action: passkeyAudit.startSignIn,
  isStep: true,
  description: 'Starts a sign-in with a passkey.',
  authScopes: { public: true },
  payload: ceremony,
  errors: [Conflict, Unavailable],
  resolve: (_input, context) => context.deps.auth.startPasskeySignIn(context),
})

mutation('signInWithPasskey', {
  action: sessionAudit.create,
  description:
    'Signs in with a passkey. No code is needed: the authenticator has verified the user by a PIN, a fingerprint or a face.',
  authScopes: { public: true },
  input: (t) => ({
    challenge: t.string({ required: true, description: passkeyAnswer.challenge }),
    response: t.string({ required: true, description: passkeyAnswer.response }),
  }),
  payload: session,
  errors: [Unauthenticated, Unavailable],
  resolve: (input, context) => context.deps.auth.signInWithPasskey(context, input),
})

mutation('startPasskeyRegistration', {
  action: passkeyAudit.startRegistration,
  description: 'Starts the registration of a passkey for the signed-in user.',
  input: (t) => ({ currentPassword: t.string({ description: 'Current password; required when the user has one.' }) }),
  payload: ceremony,
  errors: [Conflict, Unavailable],
  resolve: (input, context) => context.deps.auth.startPasskeyRegistration(context, input),
})

/** A row that Pothos loads by its ID. */
const byId = (id: string) => ({ id }) as typeof Passkey.$inferType

mutation('finishPasskeyRegistration', {
  action: passkeyAudit.add,
  description: 'Adds a passkey to the signed-in user. The authenticator must have verified the user.',
  input: (t) => ({
    challenge: t.string({ required: true, description: passkeyAnswer.challenge }),
    response: t.string({ required: true, description: passkeyAnswer.response }),
    name: t.string({ required: true, description: 'Name of the passkey, 1 to 100 characters.' }),
  }),
  payload: { passkey: { type: Passkey, description: 'The new passkey.' } },
  errors: [NotFound, InvalidInput],
  resolve: async (input, context) => ({ passkey: byId(await context.deps.auth.finishPasskeyRegistration(context, input)) }),
})

mutation('renamePasskey', {
  description: 'Renames a passkey of the signed-in user.',
  input: (t) => ({
    id: t.id({ required: true, description: 'ID of the passkey.' }),
    name: t.string({ required: true, description: 'New name, 1 to 100 characters.' }),
  }),
  payload: { passkey: { type: Passkey, description: 'The renamed passkey.' } },
  errors: [NotFound],
  resolve: async ({ id, name }, context) => {
    const passkey = await context.deps.auth.renamePasskey(context, { id: rowId('Passkey', id), name })
    return { passkey: byId(passkey.id) }
  },
})

mutation('removePasskey', {
  description:
    'Removes a passkey of the signed-in user: it no longer signs in. Sessions stay. The last way to sign in cannot be removed.',
  input: (t) => ({
    id: t.id({ required: true, description: 'ID of the passkey.' }),
    currentPassword: t.string({ description: 'Current password; required when the user has one.' }),
  }),
  payload: { removedId: { type: 'ID', description: 'The ID of the removed passkey.' } },
  errors: [NotFound, Conflict, Unavailable],
  resolve: async ({ id, currentPassword }, context) => {
    const removed = await context.deps.auth.removePasskey(context, { id: rowId('Passkey', id), currentPassword })
    return { removedId: globalId('Passkey', removed.id) }
  },
})
