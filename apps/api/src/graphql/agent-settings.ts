import { type AgentSettings as Row, readAgentSettings, updateAgentSettings } from '@muster/core/agents'
import { whyNotAllowed } from '@muster/core/context'
import { builder } from '../builder.ts'
import { COMMON } from './errors.ts'
import { given } from './ids.ts'

const AgentSettings = builder.objectRef<Omit<Row, 'tenantId' | 'updatedAt'>>('AgentSettings').implement({
  description: 'How often the tenant’s agents beat, and how their silence is judged.',
  fields: (t) => ({
    heartbeatS: t.exposeInt('heartbeatS', { description: 'Seconds between heartbeats that agents are asked for.' }),
    staleAfterS: t.exposeInt('staleAfterS', { description: 'Seconds of silence after which an agent is STALE.' }),
    offlineAfterS: t.exposeInt('offlineAfterS', { description: 'Seconds of silence after which it is OFFLINE.' }),
    massSilencePercent: t.exposeInt('massSilencePercent', {
      description: 'When more than this share of the tenant or of a cluster is silent at once, the fault is taken for ours.',
    }),
    massSilenceNodes: t.exposeInt('massSilenceNodes', { description: 'And at least so many nodes.' }),
    deregisterAfterDays: t.exposeInt('deregisterAfterDays', {
      nullable: true,
      description: 'Days OFFLINE after which an agent is deregistered by itself; null: never.',
    }),
    changeBlockedReason: t.string({
      nullable: true,
      description: 'Why the caller may not change it; null: allowed.',
      resolve: (_settings, _args, { ctx }) => whyNotAllowed(ctx.actor, 'agent:settings'),
    }),
  }),
})

const UpdateAgentSettingsInput = builder.inputType('UpdateAgentSettingsInput', {
  description: 'What is to change; what is left out stays.',
  fields: (t) => ({
    heartbeatS: t.int({
      description: 'Seconds between heartbeats that agents are asked for, 1 to 3600; each is told with its next.',
    }),
    staleAfterS: t.int({
      description: 'Seconds of silence after which an agent is STALE, at least twice those between heartbeats.',
    }),
    offlineAfterS: t.int({ description: 'Seconds of silence after which it is OFFLINE; more than until STALE.' }),
    massSilencePercent: t.int({ description: 'Share of the tenant or of a cluster, 1 to 100.' }),
    massSilenceNodes: t.int({ description: 'At least so many nodes, 2 or more.' }),
    deregisterAfterDays: t.int({ description: 'Days OFFLINE after which an agent is deregistered by itself; null: never.' }),
  }),
})

builder.queryField('agentSettings', (t) =>
  t.field({
    type: AgentSettings,
    description: 'How often agents beat and how their silence is judged.',
    authScopes: { authenticated: true },
    resolve: (_root, _args, { ctx }) => readAgentSettings(ctx.db, ctx.tenantId),
  }),
)

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
