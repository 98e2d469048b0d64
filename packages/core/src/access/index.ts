export { AddMemberInput, addMember } from './add-member.ts'
export { apiTokenAudit, memberAudit, sessionAudit, tenantAudit, userAudit } from './audit-actions.ts'
export { accessChanged } from './change-events.ts'
export { CreateApiTokenInput, createApiToken } from './create-api-token.ts'
export { CreateTenantInput, createTenant } from './create-tenant.ts'
export { memberPermissions, tenantPermissions, tokenPermissions } from './permissions.ts'
export { grantBlockedReason, revokeBlockedReason } from './policy.ts'
export { findActorByToken, findMembership } from './queries.ts'
export { revokeApiToken } from './revoke-api-token.ts'
export { accessSettings } from './settings.ts'
export {
  type ApiToken,
  accounts,
  apiTokens,
  type Member,
  members,
  ROLES,
  type Role,
  sessions,
  type Tenant,
  tenants,
  users,
  VAR_MERGES,
  type VarMerge,
  verifications,
} from './tables.ts'
export { hashToken } from './tokens.ts'
