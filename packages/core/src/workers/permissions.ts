import { definePermissions } from '../kernel/permissions.ts'

export const workerPermissions = definePermissions('worker', {
  drain: ['installation', 'Drain and undrain workers, which serve all tenants.'],
  report: ['system', 'Record the state of workers.'],
})
