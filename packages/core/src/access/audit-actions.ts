import { defineAuditActions } from '../audit/index.ts'

export const apiTokenAudit = defineAuditActions('api_token', ['create', 'revoke'])
export const memberAudit = defineAuditActions('member', [
  'add',
  'changeRole',
  'suspend',
  'resume',
  'remove',
  'transferOwnership',
  'resetSignIn',
  'appointInstallationAdmin',
  'dismissInstallationAdmin',
])
export const invitationAudit = defineAuditActions('invitation', ['create', 'revoke', 'accept'])
export const roleAudit = defineAuditActions('role', ['create', 'update', 'delete'])
export const tenantAudit = defineAuditActions('tenant', [
  'create',
  'update',
  'suspend',
  'resume',
  'switch',
  'delete',
  'purge',
  'setStepUp',
])
/** `confirm`: the user proved their identity again. `challenge`: the password was right, and the second factor is required. */
export const sessionAudit = defineAuditActions('session', ['create', 'challenge', 'confirm', 'end'])
export const userAudit = defineAuditActions('user', [
  'requestPasswordReset',
  'resetPassword',
  'setPassword',
  'requestEmailChange',
  'changeEmail',
  'connectIdentity',
  'disconnectIdentity',
  'startOidcSignIn',
])
/** The second factor of a user. */
export const totpAudit = defineAuditActions('totp', ['start', 'confirm', 'remove', 'replaceRecoveryCodes', 'verify'])
export const passkeyAudit = defineAuditActions('passkey', ['startRegistration', 'add', 'rename', 'remove', 'startSignIn'])
/** A program that signs in through the browser of a person. */
export const deviceSignInAudit = defineAuditActions('device_sign_in', ['start', 'find', 'approve', 'deny', 'poll'])
export const signInMethodAudit = defineAuditActions('sign_in_method', ['check'])
