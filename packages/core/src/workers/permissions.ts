import { definePermissions } from '../kernel/permissions.ts'

export const workerPermissions = definePermissions('worker', {
  drain: 'admin',
  report: 'system',
})
