import { defineDomain } from '../kernel/domain.ts'
import { grantAudit } from './audit-actions.ts'
import { relations } from './relations.ts'
import * as tables from './tables.ts'

export const grantsDomain = defineDomain({
  name: 'grants',
  auditActions: { grantAudit },
  tables,
  relations,
  graphqlIds: { Grant: tables.grants },
})
