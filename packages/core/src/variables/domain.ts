import { defineDomain } from '../kernel/domain.ts'
import { variableAudit, varMergeAudit } from './audit-actions.ts'
import { variablePermissions } from './permissions.ts'
import { relations } from './relations.ts'
import * as tables from './tables.ts'

export const variablesDomain = defineDomain({
  name: 'variables',
  permissions: { variablePermissions },
  auditActions: { varMergeAudit, variableAudit },
  tables,
  relations,
  graphqlIds: { VariableScope: tables.variableScopes },
})
