import { defineDomain } from '../kernel/domain.ts'
import { tenantAudit, variableAudit } from './audit-actions.ts'
import { variablePermissions } from './permissions.ts'
import { relations } from './relations.ts'
import * as tables from './tables.ts'

export const variablesDomain = defineDomain({
  name: 'variables',
  permissions: { variablePermissions },
  auditActions: { tenantAudit, variableAudit },
  tables,
  relations,
  graphqlIds: { VariableScope: tables.variableScopes },
})
