import { definePermissions } from '../kernel/permissions.ts'

export const alertPermissions = definePermissions('alert', {
  /** Acknowledge and silence. */
  write: 'operator',
  /** Resolve manually an alert that would stay open. */
  resolve: 'admin',
  deliver: 'system',
})

export const alertRoutePermissions = definePermissions('alert_route', {
  /** Acknowledge and silence. */
  write: 'admin',
})
