import { passkeyAudit, sessionAudit, setStepUp, tenantAudit } from '@muster/core/access'
import { Conflict, NotFound, Unauthenticated, Unavailable } from '@muster/core/errors'
import { builder } from '../../builder.ts'
import { mutation } from '../shared/mutation.ts'
import { ceremony, passkeyAnswer } from './passkeys.ts'
import { Tenant } from './people.ts'
import { Viewer } from './types.ts'

builder.drizzleObjectField(Tenant, 'stepUpMinutes', (t) =>
  t.exposeInt('stepUpMinutes', {
    nullable: true,
    description:
      'Maximum age in minutes of the proof of identity for sensitive changes; null without a limit. See `confirmIdentity`.',
  }),
)

mutation('setStepUp', {
  action: tenantAudit.setStepUp,
  description:
    'Sets the maximum age of the proof of identity for sensitive changes: approving host keys, changing credentials, secret stores and API tokens, and changing how a user signs in. Users confirm an older one with `confirmIdentity`.',
  input: (t) => ({
    minutes: t.int({ description: 'Minutes since the sign-in or the last confirmation, 1 to 1440; null: no confirmation.' }),
  }),
  payload: { tenant: { type: Tenant, description: 'The changed tenant.' } },
  resolve: async ({ minutes }, { ctx, deps }) => {
    const tenant = await setStepUp(ctx, { minutes: minutes ?? null })
    deps.auth.clearCallerCache()
    return { tenant }
  },
})

mutation('startPasskeyConfirmation', {
  action: passkeyAudit.startSignIn,
  description: 'Starts a confirmation of identity with a passkey of the signed-in user.',
  payload: ceremony,
  errors: [Conflict, Unavailable],
  resolve: (_input, context) => context.deps.auth.startPasskeyConfirmation(context),
})

const PasskeyAnswer = builder.inputType('PasskeyAnswerInput', {
  description: 'The response of a passkey.',
  fields: (t) => ({
    challenge: t.string({ required: true, description: passkeyAnswer.challenge }),
    response: t.string({ required: true, description: passkeyAnswer.response }),
  }),
})

const LdapPassword = builder.inputType('LdapPasswordInput', {
  description: 'Name and password in the LDAP directory.',
  fields: (t) => ({
    userName: t.string({ required: true, description: 'Name of the user in the directory.' }),
    password: t.string({ required: true, description: 'Password of the user in the directory.' }),
  }),
})

mutation('confirmIdentity', {
  action: sessionAudit.confirm,
  description:
    'Confirms the identity of the signed-in user, after a StepUpRequiredError. Exactly one proof must be given. Users of an OpenID Connect provider can use `startOidcSignIn` with `confirm` instead, or sign in again.',
  input: (t) => ({
    password: t.string({ description: 'Password of the user in Muster.' }),
    code: t.string({ description: 'Code of the authenticator app. Each code works once.' }),
    passkey: t.field({ type: PasskeyAnswer, description: 'Answer to the options of `startPasskeyConfirmation`.' }),
    ldap: t.field({ type: LdapPassword, description: 'Name and password of the connected entry in the LDAP directory.' }),
  }),
  payload: { viewer: { type: Viewer, description: 'The signed-in user.' } },
  errors: [Conflict, NotFound, Unauthenticated, Unavailable],
  resolve: async (input, context) => ({ viewer: await context.deps.auth.confirmIdentity(context, input) }),
})
