import { definePermissions } from '../kernel/permissions.ts'

export const alertPermissions = definePermissions('alert', {
  write: ['operator', 'Acknowledge and silence alerts.'],
  resolve: ['admin', 'Resolve alerts manually that would stay open.'],
  deliver: ['system', 'Send notifications.'],
})

export const alertRoutePermissions = definePermissions('alert_route', {
  write: ['admin', 'Create, change and delete alert routes.'],
})
