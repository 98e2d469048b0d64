import { defineDomain } from '../kernel/domain.ts'
import { agentAudit, agentEnrollmentTokenAudit, agentKeyAudit } from './audit-actions.ts'
import { agentPermissions } from './permissions.ts'
import { relations } from './relations.ts'
import * as tables from './tables.ts'

export const agentsDomain = defineDomain({
  name: 'agents',
  permissions: { agentPermissions },
  auditActions: { agentAudit, agentEnrollmentTokenAudit, agentKeyAudit },
  tables,
  relations,
  graphqlIds: { AgentKey: tables.agentKeys, AgentEnrollmentToken: tables.agentEnrollmentTokens },
})
