import { definePermissions } from '../kernel/permissions.ts'

export const ledgerPermissions = definePermissions('ledger', {
  read: ['viewer', 'Read and verify the ledger of node metadata.'],
  write: ['admin', 'Change the settings and sinks of the ledger.'],
  record: ['system', 'Record changed node metadata in the ledger, and deliver it to sinks.'],
})
