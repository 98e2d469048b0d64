import { defineDomain } from '../kernel/domain.ts'
import { slurmPowerAudit } from './audit-actions.ts'
import { slurmPowerPermissions } from './permissions.ts'
import { relations } from './relations.ts'
import * as tables from './tables.ts'

export const slurmPowerDomain = defineDomain({
  name: 'slurm-power',
  permissions: { slurmPowerPermissions },
  auditActions: { slurmPowerAudit },
  tables,
  relations,
})
