import { defineDomain } from '../kernel/domain.ts'
import { queueAudit } from './audit-actions.ts'
import { nodesFreed, queueChanged } from './change-events.ts'
import { queuePermissions } from './permissions.ts'
import { relations } from './relations.ts'
import * as tables from './tables.ts'

export const runQueueDomain = defineDomain({
  name: 'run-queue',
  permissions: { queuePermissions },
  auditActions: { queueAudit },
  changeEvents: [nodesFreed, queueChanged],
  tables,
  relations,
})
