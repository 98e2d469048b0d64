import { definePermissions } from '../kernel/permissions.ts'

export const nodePermissions = definePermissions('node', {
  write: 'operator',
  purge: 'admin',
  approveHostKey: 'operator',
  /** Nodes of connection type `local` run commands on the worker's own machine. */
  local: 'admin',
  /** Observations of workers. */
  report: 'system',
})
