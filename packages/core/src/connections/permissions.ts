import { definePermissions } from '../kernel/permissions.ts'

export const connectionPermissions = definePermissions('connection', {
  test: ['operator', 'Test connections.', 'perNode'],
  report: ['system', 'Record results of connection tests.'],
})
