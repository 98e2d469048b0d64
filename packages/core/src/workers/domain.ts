import { defineDomain } from '../kernel/domain.ts'
import { workerAudit } from './audit-actions.ts'
import { workerChanged } from './change-events.ts'
import { workerPermissions } from './permissions.ts'
import { relations } from './relations.ts'
import { workerSettings } from './settings.ts'
import * as tables from './tables.ts'

export const workersDomain = defineDomain({
  name: 'workers',
  permissions: { workerPermissions },
  auditActions: { workerAudit },
  changeEvents: [workerChanged],
  settings: workerSettings,
  tables,
  relations,
})
