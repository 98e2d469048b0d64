import { definePermissions } from '../kernel/permissions.ts'

export const connectionPermissions = definePermissions('connection', {
  test: 'operator',
  report: 'system',
})
