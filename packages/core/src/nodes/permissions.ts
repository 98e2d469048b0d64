import { definePermissions } from '../kernel/permissions.ts'

export const nodePermissions = definePermissions(
  'node',
  {
    write: ['operator', 'Add, change and decommission nodes.', 'perNode'],
    purge: ['admin', 'Delete nodes permanently.'],
    approveHostKey: ['admin', 'Approve host keys; also requires `credential:use`.', 'perNode'],
    local: ['admin', "Add nodes of connection type local, which run commands on the worker's machine."],
    report: ['system', 'Record observations of nodes.'],
  },
  { stepUp: ['approveHostKey'] },
)
