import { defineDomain } from '../kernel/domain.ts'
import { manifestAudit } from './audit-actions.ts'
import { manifestPermissions } from './permissions.ts'
import { relations } from './relations.ts'
import * as tables from './tables.ts'

export const manifestsDomain = defineDomain({
  name: 'manifests',
  permissions: { manifestPermissions },
  auditActions: { manifestAudit },
  tables,
  relations,
})
