import { defineDomain } from '../kernel/domain.ts'
import { slurmReadinessAudit } from './audit-actions.ts'
import { slurmReadinessCheckChanged } from './change-events.ts'
import { slurmScalePermissions } from './permissions.ts'
import { slurmReadinessQueue } from './queues.ts'
import { relations } from './relations.ts'
import * as tables from './tables.ts'

export const slurmScalingDomain = defineDomain({
  name: 'slurm-scaling',
  permissions: { slurmScalePermissions },
  auditActions: { slurmReadinessAudit },
  changeEvents: [slurmReadinessCheckChanged],
  queues: [slurmReadinessQueue],
  tables,
  relations,
  graphqlIds: { SlurmReadinessCheck: tables.slurmReadinessChecks },
})
