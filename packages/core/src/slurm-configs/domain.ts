import { defineDomain } from '../kernel/domain.ts'
import { slurmConfigAudit } from './audit-actions.ts'
import { slurmConfigPermissions } from './permissions.ts'
import { relations } from './relations.ts'
import * as tables from './tables.ts'

export const slurmConfigsDomain = defineDomain({
  name: 'slurm-configs',
  permissions: { slurmConfigPermissions },
  auditActions: { slurmConfigAudit },
  tables,
  relations,
  graphqlIds: { SlurmConfigVersion: tables.slurmConfigVersions },
})
