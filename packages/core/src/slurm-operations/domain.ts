import { defineDomain } from '../kernel/domain.ts'
import { slurmOperationAudit } from './audit-actions.ts'
import { slurmOperationChanged } from './change-events.ts'
import { slurmOperationPermissions } from './permissions.ts'
import { slurmOperationQueue } from './queues.ts'
import { relations } from './relations.ts'
import * as tables from './tables.ts'

export const slurmOperationsDomain = defineDomain({
  name: 'slurm-operations',
  permissions: { slurmOperationPermissions },
  auditActions: { slurmOperationAudit },
  changeEvents: [slurmOperationChanged],
  queues: [slurmOperationQueue],
  tables,
  relations,
  graphqlIds: { SlurmOperation: tables.slurmOperations },
})
