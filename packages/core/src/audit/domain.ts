import { defineDomain } from '../kernel/domain.ts'
import { auditLogAudit } from './audit-actions.ts'
import { auditPermissions, installationAuditPermissions } from './permissions.ts'
import { relations } from './relations.ts'
import { auditSettings } from './settings.ts'
import * as tables from './tables.ts'

export const auditDomain = defineDomain({
  name: 'audit',
  permissions: { auditPermissions, installationAuditPermissions },
  auditActions: { auditLogAudit },
  settings: auditSettings,
  tables,
  relations,
})
