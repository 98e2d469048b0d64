import { defineDomain } from '../kernel/domain.ts'
import { ledgerAudit, ledgerSinkAudit } from './audit-actions.ts'
import { ledgerPermissions } from './permissions.ts'
import { relations } from './relations.ts'
import * as tables from './tables.ts'

export const ledgerDomain = defineDomain({
  name: 'ledger',
  permissions: { ledgerPermissions },
  auditActions: { ledgerAudit, ledgerSinkAudit },
  tables,
  relations,
})
