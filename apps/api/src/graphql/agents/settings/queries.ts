import { readAgentSettings } from '@muster/core/agents'
import { builder } from '../../../builder.ts'
import { AgentSettings } from './types.ts'

builder.queryField('agentSettings', (t) =>
  t.field({
    type: AgentSettings,
    description: 'How often agents beat and how their silence is judged.',
    authScopes: { authenticated: true },
    resolve: (_root, _args, { ctx }) => readAgentSettings(ctx.db, ctx.tenantId),
  }),
)
