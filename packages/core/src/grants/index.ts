export { grantAudit } from './audit-actions.ts'
export { CreateGrantInput, createGrant } from './create-grant.ts'
export { deleteGrant } from './delete-grant.ts'
export { type GrantRow, grants } from './tables.ts'
