export { AppointInstallationAdminInput, appointInstallationAdmin } from './appoint-installation-admin.ts'
export {
  apiTokenAudit,
  deviceSignInAudit,
  invitationAudit,
  memberAudit,
  passkeyAudit,
  roleAudit,
  sessionAudit,
  signInMethodAudit,
  tenantAudit,
  totpAudit,
  userAudit,
} from './audit-actions.ts'
export { accessChanged } from './change-events.ts'
export { decideDeviceSignIn, findDeviceSignIn } from './device-sign-in/decide-device-sign-in.ts'
export { pollDeviceSignIn } from './device-sign-in/poll-device-sign-in.ts'
export { DEVICE_SIGN_IN, startDeviceSignIn } from './device-sign-in/start-device-sign-in.ts'
export { DismissInstallationAdminInput, dismissInstallationAdmin } from './dismiss-installation-admin.ts'
export { acceptInvitation } from './members/accept-invitation.ts'
export { AddMemberInput, addMember } from './members/add-member.ts'
export { changeMemberRole } from './members/change-member-role.ts'
export { createServiceAccount } from './members/create-service-account.ts'
export { inviteMember } from './members/invite-member.ts'
export { findInvitationByToken, INVITATION_INVALID, type OpenInvitation } from './members/open-invitation.ts'
export { removeMember } from './members/remove-member.ts'
export { resetSignIn } from './members/reset-sign-in.ts'
export { resumeMember } from './members/resume-member.ts'
export { revokeInvitation } from './members/revoke-invitation.ts'
export { suspendMember } from './members/suspend-member.ts'
export { transferOwnership } from './members/transfer-ownership.ts'
export {
  customRolePermissions,
  installationAdminPermissions,
  memberPermissions,
  tenantPermissions,
  tokenPermissions,
} from './permissions.ts'
export {
  chooseEmailBlockedReason,
  deleteRoleBlockedReason,
  deleteTenantBlockedReason,
  grantBlockedReason,
  memberBlockedReason,
  revokeBlockedReason,
  suspendTenantBlockedReason,
  transferBlockedReason,
  updateRoleBlockedReason,
} from './policy.ts'
export {
  findAccessProviders,
  findActorByToken,
  findMemberships,
  findOwnerActor,
  findTenantId,
  isActiveMembership,
  type Membership,
} from './queries.ts'
export { assertGrantable } from './roles/assert-grantable.ts'
export { type CreateRoleInput, createRole } from './roles/create-role.ts'
export { deleteRole } from './roles/delete-role.ts'
export { RoleName } from './roles/role-fields.ts'
export { findRoles, rolesInUse } from './roles/role-rows.ts'
export { type UpdateRoleInput, updateRole } from './roles/update-role.ts'
export { accessSettings, ldapSettings, mailSettings, oidcSettings, tokenSettings } from './settings.ts'
export { findChallengeProvider, storeChallengeProvider } from './sign-in/challenge-providers.ts'
export { changeEmail, confirmEmailChange, requestEmailChange } from './sign-in/change-email.ts'
export { disconnectIdentity } from './sign-in/disconnect-identity.ts'
export { type GroupRole, rolesOf } from './sign-in/group-roles.ts'
export { type OidcFlow, storeOidcFlow, takeOidcFlow } from './sign-in/oidc-flows.ts'
export { recordPasskeyAdded, recordPasskeyUse, removePasskey, renamePasskey } from './sign-in/passkeys.ts'
export { ProvisionUserInput, provisionUser } from './sign-in/provision-user.ts'
export { pruneSessions } from './sign-in/prune-sessions.ts'
export { resetPassword } from './sign-in/reset-password.ts'
export { rewriteSecondFactors } from './sign-in/rewrite-second-factors.ts'
export {
  activateSession,
  deleteSessions,
  endSession,
  recordIdentityProof,
  recordSessionStart,
  recordSessionUse,
  recordSignIn,
} from './sign-in/sessions.ts'
export { setPassword } from './sign-in/set-password.ts'
export {
  findSignInMethods,
  hasLocalSignIn,
  hasSignInMethod,
  type Removable,
  removalBlockedReason,
  type SignInMethods,
} from './sign-in/sign-in-methods.ts'
export { createThrottle, type Throttle } from './sign-in/throttle.ts'
export {
  type ApiToken,
  accounts,
  apiTokens,
  type CustomRole,
  type DeviceAuthorization,
  IDENTITY_PROVIDERS,
  type IdentityProvider,
  type Invitation,
  invitations,
  type Member,
  members,
  type PasskeyDeviceType,
  passkeys,
  roles,
  sessions,
  type Tenant,
  tenants,
  users,
  VAR_MERGES,
  type VarMerge,
  verifications,
} from './tables.ts'
export { CreateTenantInput, createTenant } from './tenants/create-tenant.ts'
export { deleteTenant } from './tenants/delete-tenant.ts'
export { purgeDeletedTenants } from './tenants/purge-deleted-tenants.ts'
export { resumeTenant } from './tenants/resume-tenant.ts'
export { setStepUp } from './tenants/set-step-up.ts'
export { suspendTenant } from './tenants/suspend-tenant.ts'
export { switchTenant } from './tenants/switch-tenant.ts'
export { UpdateTenantInput, updateTenant } from './tenants/update-tenant.ts'
export { CreateApiTokenInput, createApiToken, type TokenPolicy } from './tokens/create-api-token.ts'
export { hashToken } from './tokens/make-token.ts'
export { revokeApiToken } from './tokens/revoke-api-token.ts'
