import { defineDomain } from '../kernel/domain.ts'
import { bootAudit, unknownMachineAudit } from './audit-actions.ts'
import { nodeBootChanged, unknownMachineChanged } from './change-events.ts'
import { bootPermissions, unknownMachinePermissions } from './permissions.ts'
import { relations } from './relations.ts'
import { bootServiceSettings } from './settings.ts'
import * as tables from './tables.ts'

export const bootServiceDomain = defineDomain({
  name: 'boot-service',
  permissions: { bootPermissions, unknownMachinePermissions },
  auditActions: { bootAudit, unknownMachineAudit },
  changeEvents: [nodeBootChanged, unknownMachineChanged],
  settings: bootServiceSettings,
  tables,
  relations,
  graphqlIds: { UnknownMachine: tables.unknownMachines, BootAttempt: tables.bootAttempts },
})
