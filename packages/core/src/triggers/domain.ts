import { defineDomain } from '../kernel/domain.ts'
import { triggerAudit } from './audit-actions.ts'
import { triggerChanged } from './change-events.ts'
import { triggerPermissions } from './permissions.ts'
import { relations } from './relations.ts'
import * as tables from './tables.ts'

export const triggersDomain = defineDomain({
  name: 'triggers',
  permissions: { triggerPermissions },
  auditActions: { triggerAudit },
  changeEvents: [triggerChanged],
  tables,
  relations,
  graphqlIds: { Trigger: tables.triggers, TriggerDelivery: tables.triggerDeliveries },
})
