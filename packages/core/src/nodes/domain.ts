import { defineDomain } from '../kernel/domain.ts'
import { nodeAudit } from './audit-actions.ts'
import { nodeChanged } from './change-events.ts'
import { nodePermissions } from './permissions.ts'
import { relations } from './relations.ts'
import * as tables from './tables.ts'

export const nodesDomain = defineDomain({
  name: 'nodes',
  permissions: { nodePermissions },
  auditActions: { nodeAudit },
  changeEvents: [nodeChanged],
  tables,
  relations,
  graphqlIds: { ComputeNode: tables.computeNodes, Accelerator: tables.accelerators },
})
