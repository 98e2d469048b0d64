import { definePermissions } from '../kernel/permissions.ts'

export const connectionPermissions = definePermissions('connection', {
  test: ['operator', 'Test connections.'],
  report: ['system', 'Record results of connection tests.'],
})
