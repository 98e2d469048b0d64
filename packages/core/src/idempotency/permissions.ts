import { definePermissions } from '../kernel/permissions.ts'

export const idempotencyKeyPermissions = definePermissions('idempotency_key', {
  prune: ['system', 'Prune idempotency keys.'],
})
