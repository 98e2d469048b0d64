import { tenantPermissions } from '@muster/core/access'
import { readAgentSettings } from '@muster/core/agents'
import { builder } from '../../../builder.ts'
import { AgentSettings } from './types.ts'

builder.queryField('agentSettings', (t) =>
  t.field({
    type: AgentSettings,
    description: 'Heartbeat interval and state thresholds of the tenant.',
    authScopes: { permission: tenantPermissions.read },
    resolve: (_root, _args, { ctx }) => readAgentSettings(ctx.db, ctx.tenantId),
  }),
)
