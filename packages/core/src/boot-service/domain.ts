import { defineDomain } from '../kernel/domain.ts'
import { bootAudit, bootRuleAudit, unknownMachineAudit } from './audit-actions.ts'
import { bootRuleChanged, nodeBootChanged, unknownMachineChanged } from './change-events.ts'
import { bootPermissions, bootRulePermissions, unknownMachinePermissions } from './permissions.ts'
import { relations } from './relations.ts'
import { bootServiceSettings } from './settings.ts'
import * as tables from './tables.ts'

export const bootServiceDomain = defineDomain({
  name: 'boot-service',
  permissions: { bootPermissions, bootRulePermissions, unknownMachinePermissions },
  auditActions: { bootAudit, bootRuleAudit, unknownMachineAudit },
  changeEvents: [nodeBootChanged, unknownMachineChanged, bootRuleChanged],
  settings: bootServiceSettings,
  tables,
  relations,
  graphqlIds: { UnknownMachine: tables.unknownMachines, BootAttempt: tables.bootAttempts, BootRule: tables.bootRules },
})
