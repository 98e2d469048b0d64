import { updateAgentSettings } from '@muster/core/agents'
import { builder } from '../../../builder.ts'
import { COMMON } from '../../shared/errors.ts'
import { given } from '../../shared/ids.ts'
import { AgentSettings } from './types.ts'

const UpdateAgentSettingsInput = builder.inputType('UpdateAgentSettingsInput', {
  description: 'What is to change; what is left out stays.',
  fields: (t) => ({
    heartbeatIntervalSeconds: t.int({
      description: 'Seconds between heartbeats that agents are asked for, 1 to 3600; each is told with its next.',
    }),
    staleAfterSeconds: t.int({
      description: 'Seconds of silence after which an agent is STALE, at least twice those between heartbeats.',
    }),
    offlineAfterSeconds: t.int({ description: 'Seconds of silence after which it is OFFLINE; more than until STALE.' }),
    massOutagePercent: t.int({ description: 'Share of the tenant or of a cluster, 1 to 100.' }),
    massOutageMinNodes: t.int({ description: 'At least so many nodes, 2 or more.' }),
    deregisterAfterDays: t.int({ description: 'Days OFFLINE after which an agent is deregistered by itself; null: never.' }),
  }),
})

builder.mutationField('updateAgentSettings', (t) =>
  t.field({
    type: AgentSettings,
    description: 'Change how often agents beat and how their silence is judged.',
    authScopes: { authenticated: true },
    errors: { types: [...COMMON] },
    args: { input: t.arg({ type: UpdateAgentSettingsInput, required: true, description: 'What to change.' }) },
    resolve: (_root, { input: { deregisterAfterDays, ...rest } }, { ctx }) =>
      // Null takes the days away; of the others it is as good as left out.
      updateAgentSettings(ctx, { ...given(rest), ...(deregisterAfterDays === undefined ? {} : { deregisterAfterDays }) }),
  }),
)
