import { defineDomain } from '../kernel/domain.ts'
import { auditPermissions } from './permissions.ts'
import { relations } from './relations.ts'
import * as tables from './tables.ts'

export const auditDomain = defineDomain({
  name: 'audit',
  permissions: { auditPermissions },
  tables,
  relations,
})
