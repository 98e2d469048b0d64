import { defineDomain } from '../kernel/domain.ts'
import { slurmConfigAudit, slurmConfigSnippetAudit } from './audit-actions.ts'
import { slurmConfigPermissions } from './permissions.ts'
import { relations } from './relations.ts'
import * as tables from './tables.ts'

export const slurmConfigsDomain = defineDomain({
  name: 'slurm-configs',
  permissions: { slurmConfigPermissions },
  auditActions: { slurmConfigAudit, slurmConfigSnippetAudit },
  tables,
  relations,
  graphqlIds: { SlurmConfigVersion: tables.slurmConfigVersions, SlurmConfigSnippet: tables.slurmConfigSnippets },
})
