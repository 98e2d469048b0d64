import { totpAudit } from '@muster/core/access'
import { Conflict, Unauthenticated, Unavailable } from '@muster/core/errors'
import { mutation } from '../shared/mutation.ts'
import { session } from './mutations.ts'

const currentPassword = 'Current password; required when the user has one.'

mutation('verifySecondFactor', {
  action: totpAudit.verify,
  description: 'Second step of a sign-in of a user with an authenticator app.',
  authScopes: { public: true },
  input: (t) => ({
    challenge: t.string({ required: true, description: '`challenge` of the SecondFactorRequiredError of the first step.' }),
    code: t.string({ required: true, description: 'Code of the authenticator app, or a recovery code. Each code works once.' }),
  }),
  payload: session,
  errors: [Unauthenticated, Unavailable],
  resolve: (input, context) => context.deps.auth.verifySecondFactor(context, input),
})

mutation('startTotp', {
  action: totpAudit.start,
  description: 'Creates the secret of an authenticator app for the signed-in user. It takes effect with `confirmTotp`.',
  input: (t) => ({ currentPassword: t.string({ description: currentPassword }) }),
  payload: {
    uri: { type: 'String', description: 'otpauth URI with the secret, usually shown as a QR code. It is shown only here.' },
    recoveryCodes: {
      type: ['String'],
      description: 'Codes for signing in without the app, once each; at most 10. They are shown only here.',
    },
  },
  errors: [Conflict, Unavailable],
  resolve: (input, context) => context.deps.auth.startTotp(context, input),
})

mutation('confirmTotp', {
  action: totpAudit.confirm,
  description: 'Turns on the second factor with the first code of the authenticator app. The session gets a new token.',
  input: (t) => ({ code: t.string({ required: true, description: 'Current code of the app.' }) }),
  payload: session,
  errors: [Conflict, Unavailable],
  resolve: (input, context) => context.deps.auth.confirmTotp(context, input),
})

mutation('removeTotp', {
  action: totpAudit.remove,
  description: 'Turns off the second factor and deletes the recovery codes. The session gets a new token.',
  input: (t) => ({ currentPassword: t.string({ description: currentPassword }) }),
  payload: session,
  errors: [Conflict, Unavailable],
  resolve: (input, context) => context.deps.auth.removeTotp(context, input),
})

mutation('replaceRecoveryCodes', {
  action: totpAudit.replaceRecoveryCodes,
  description: 'Replaces the recovery codes of the signed-in user.',
  input: (t) => ({ currentPassword: t.string({ description: currentPassword }) }),
  payload: {
    recoveryCodes: {
      type: ['String'],
      description: 'Codes for signing in without the app, once each; at most 10. They are shown only here.',
    },
  },
  errors: [Conflict, Unavailable],
  resolve: async (input, context) => ({ recoveryCodes: await context.deps.auth.replaceRecoveryCodes(context, input) }),
})
