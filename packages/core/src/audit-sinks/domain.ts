import { defineDomain } from '../kernel/domain.ts'
import { auditSinkAudit } from './audit-actions.ts'
import { auditSinkChanged } from './change-events.ts'
import { relations } from './relations.ts'
import * as tables from './tables.ts'

export const auditSinksDomain = defineDomain({
  name: 'audit-sinks',
  auditActions: { auditSinkAudit },
  changeEvents: [auditSinkChanged],
  tables,
  relations,
  graphqlIds: { AuditSink: tables.auditSinks },
})
