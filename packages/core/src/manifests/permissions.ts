import { definePermissions } from '../kernel/permissions.ts'

export const manifestPermissions = definePermissions('manifest', {
  plan: ['viewer', 'Plan and export manifests.'],
  apply: ['operator', 'Apply manifests. Each change also requires the permission of its own operation.'],
})
