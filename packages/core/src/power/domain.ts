import { defineDomain } from '../kernel/domain.ts'
import { bmcAudit, bmcDiscoveryAudit, powerRunAudit } from './audit-actions.ts'
import { bmcDiscoveryChanged, powerRunCancelRequested, powerRunChanged } from './change-events.ts'
import { bmcPermissions, powerPermissions } from './permissions.ts'
import { bmcDiscoveryQueue, bmcReadQueue, powerRunQueue } from './queues.ts'
import { relations } from './relations.ts'
import * as tables from './tables.ts'

export const powerDomain = defineDomain({
  name: 'power',
  permissions: { powerPermissions, bmcPermissions },
  auditActions: { powerRunAudit, bmcAudit, bmcDiscoveryAudit },
  changeEvents: [powerRunChanged, powerRunCancelRequested, bmcDiscoveryChanged],
  queues: [powerRunQueue, bmcReadQueue, bmcDiscoveryQueue],
  tables,
  relations,
  graphqlIds: { PowerRun: tables.powerRuns, BmcDiscovery: tables.bmcDiscoveries },
})
