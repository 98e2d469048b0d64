export { AddMemberInput, addMember } from './add-member.ts'
export { CreateApiTokenInput, createApiToken } from './create-api-token.ts'
export { CreateTenantInput, createTenant } from './create-tenant.ts'
export { whyNotGrant, whyNotRevoke } from './policy.ts'
export { findActorByToken, findMembership } from './queries.ts'
export { revokeApiToken } from './revoke-api-token.ts'
export {
  type ApiToken,
  accounts,
  apiTokens,
  auditEntries,
  type Member,
  members,
  ROLES,
  type Role,
  sessions,
  type Tenant,
  tenants,
  users,
  verifications,
} from './tables.ts'
export { updateBuiltInTemplates } from './update-built-in-templates.ts'
