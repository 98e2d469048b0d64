import { definePermissions } from '../kernel/permissions.ts'

export const memberPermissions = definePermissions('member', {
  write: 'admin',
  /** Make another member the owner. */
  transferOwnership: 'owner',
  resetSignIn: 'system',
})

export const tokenPermissions = definePermissions('token', {
  write: 'operator',
})

export const tenantPermissions = definePermissions('tenant', {
  /** Muster creates tenants at its first start. */
  create: 'system',
})
