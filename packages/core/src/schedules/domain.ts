import { defineDomain } from '../kernel/domain.ts'
import { scheduleAudit } from './audit-actions.ts'
import { scheduleChanged } from './change-events.ts'
import { schedulePermissions } from './permissions.ts'
import { relations } from './relations.ts'
import * as tables from './tables.ts'

export const schedulesDomain = defineDomain({
  name: 'schedules',
  permissions: { schedulePermissions },
  auditActions: { scheduleAudit },
  changeEvents: [scheduleChanged],
  tables,
  relations,
  graphqlIds: { Schedule: tables.schedules, ScheduleFiring: tables.scheduleFirings },
})
