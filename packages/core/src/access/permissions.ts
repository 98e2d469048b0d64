import { definePermissions } from '../kernel/permissions.ts'

export const memberPermissions = definePermissions('member', {
  write: 'admin',
})

export const tokenPermissions = definePermissions('token', {
  write: 'operator',
})

export const tenantPermissions = definePermissions('tenant', {
  /** Muster creates tenants at its first start. */
  create: 'system',
})
