import { createApiToken, revokeApiToken } from '@muster/core/access'
import { Conflict, InvalidInput, NotFound, Unauthenticated, Unavailable } from '@muster/core/errors'
import { builder } from '../../builder.ts'
import { COMMON } from '../shared/errors.ts'
import { rowId } from '../shared/ids.ts'
import { RoleType } from './enums.ts'
import { ApiToken, CreatedApiToken, SignedIn, Viewer } from './types.ts'

const SignInInput = builder.inputType('SignInInput', {
  description: 'Who wants to sign in.',
  fields: (t) => ({
    email: t.string({ required: true, description: 'Address of the user.' }),
    password: t.string({ required: true, description: 'The password.' }),
  }),
})

const SignInWithLinkInput = builder.inputType('SignInWithLinkInput', {
  description: 'The way in by a one-time link.',
  fields: (t) => ({ token: t.string({ required: true, description: 'What follows `token=` in the link.' }) }),
})

const SetPasswordInput = builder.inputType('SetPasswordInput', {
  description: 'The password of the signed-in user.',
  fields: (t) => ({
    password: t.string({ required: true, description: 'The new password, 12 to 128 characters.' }),
    currentPassword: t.string({ description: 'The present password; needed when there is one.' }),
    name: t.string({ description: 'Also the name of the user.' }),
    email: t.string({ description: 'Also the address of the user, with which to sign in from now on.' }),
  }),
})

const CreateApiTokenInput = builder.inputType('CreateApiTokenInput', {
  description: 'An API token to make.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'What it is for.' }),
    role: t.field({ type: RoleType, required: true, description: "What its bearer may do; at most the caller's own role." }),
    expiresInDays: t.int({ description: 'Days after which it ends by itself, 1 to 3650; left out: never.' }),
  }),
})

builder.mutationFields((t) => ({
  signIn: t.field({
    type: SignedIn,
    description: 'Sign in with email and password.',
    authScopes: { public: true },
    errors: { types: [Unauthenticated, InvalidInput, Unavailable] },
    args: { input: t.arg({ type: SignInInput, required: true, description: 'Who.' }) },
    resolve: (_root, { input }, context) => context.deps.auth.signIn(context, input),
  }),
  signInWithLink: t.field({
    type: SignedIn,
    description: 'Sign in with a one-time link. It works once, and for 24 hours.',
    authScopes: { public: true },
    errors: { types: [Unauthenticated, Unavailable] },
    args: { input: t.arg({ type: SignInWithLinkInput, required: true, description: 'Which link.' }) },
    resolve: (_root, { input }, context) => context.deps.auth.signInWithLink(context, input.token),
  }),
  signOut: t.boolean({
    description: "End the caller's session. True when there was one.",
    authScopes: { public: true },
    resolve: (_root, _args, context) => context.deps.auth.signOut(context),
  }),
  setPassword: t.field({
    type: Viewer,
    description: 'Set the password of the signed-in user; every other session of the user ends.',
    authScopes: { authenticated: true },
    errors: { types: [...COMMON, Conflict, Unavailable] },
    args: { input: t.arg({ type: SetPasswordInput, required: true, description: 'The password.' }) },
    resolve: (_root, { input }, context) => context.deps.auth.setPassword(context, input),
  }),
  createApiToken: t.field({
    type: CreatedApiToken,
    description: 'Make an API token for a tool.',
    authScopes: { authenticated: true },
    errors: { types: [...COMMON] },
    args: { input: t.arg({ type: CreateApiTokenInput, required: true, description: 'Which.' }) },
    resolve: (_root, { input }, { ctx }) => createApiToken(ctx, input),
  }),
  revokeApiToken: t.field({
    type: ApiToken,
    description: 'End an API token at once.',
    authScopes: { authenticated: true },
    errors: { types: [...COMMON, NotFound, Conflict] },
    args: { id: t.arg.id({ required: true, description: 'Which token.' }) },
    resolve: async (_root, { id }, { ctx, deps }) => {
      const token = await revokeApiToken(ctx, { id: rowId('ApiToken', id) })
      deps.auth.forgetCallers()
      return token
    },
  }),
}))
