import { isCurrentCluster } from '@muster/core/clusters'
import { isOneOf, visibleTo } from '@muster/core/db'
import { schema } from '@muster/core/registry'
import { and, eq, isNotNull, or, sql } from 'drizzle-orm'
import { builder } from '../../builder.ts'
import { Agent } from '../agents/types.ts'
import { ComputeNode } from '../nodes/types.ts'
import { same } from '../shared/enum-values.ts'
import { loader } from '../shared/loaders.ts'
import { SlurmCluster } from './types.ts'

const { agentHeartbeats, agents, slurmClusters, slurmNodes } = schema

const SlurmStateSource = builder.enumType('SlurmStateSource', {
  description: 'Who reported the state of a node in Slurm.',
  values: same({
    CONTROLLER: 'slurmctld, when Muster last read the cluster.',
    AGENT: 'The agent of the node, in its last heartbeat.',
  }),
})

type Observation = { state: string; source: 'CONTROLLER' | 'AGENT'; observedAt: Date }

const ObservedSlurmState = builder.objectRef<Observation>('ObservedSlurmState').implement({
  description: 'State of a node in Slurm.',
  fields: (t) => ({
    state: t.exposeString('state', { description: 'The state as sinfo shows it.' }),
    source: t.expose('source', { type: SlurmStateSource, description: 'Source of the state.' }),
    observedAt: t.expose('observedAt', { type: 'DateTime', description: 'When it was reported.' }),
  }),
})

const fromControllers = loader<Observation & { isCurrent: boolean }>(async ({ ctx }, ids) => {
  const rows = await ctx.db
    .select({
      nodeId: slurmNodes.nodeId,
      state: slurmNodes.state,
      observedAt: slurmClusters.refreshedAt,
      isCurrent: isCurrentCluster('slurm_clusters'),
    })
    .from(slurmNodes)
    .innerJoin(slurmClusters, eq(slurmClusters.id, slurmNodes.clusterId))
    .where(and(visibleTo(ctx, slurmNodes), isOneOf(slurmNodes.nodeId, [...ids]), isNotNull(slurmClusters.refreshedAt)))
    .orderBy(sql`${slurmNodes.name} desc`)
  return new Map(
    rows.map(({ nodeId, observedAt, ...row }) => [nodeId!, { ...row, source: 'CONTROLLER', observedAt: observedAt! }]),
  )
})

const fromAgents = loader<Observation>(async ({ ctx }, ids) => {
  const rows = await ctx.db
    .select({ nodeId: agentHeartbeats.nodeId, state: agentHeartbeats.slurmState, observedAt: agentHeartbeats.receivedAt })
    .from(agentHeartbeats)
    .innerJoin(agents, eq(agents.nodeId, agentHeartbeats.nodeId))
    .where(and(visibleTo(ctx, agents), isOneOf(agentHeartbeats.nodeId, [...ids]), isNotNull(agentHeartbeats.slurmState)))
  return new Map(
    rows.flatMap(({ nodeId, state, observedAt }) =>
      state && observedAt ? [[nodeId, { state, source: 'AGENT', observedAt }] as const] : [],
    ),
  )
})

const clustersByName = loader<string>(async ({ ctx }, names) => {
  const { id, name, clusterName } = slurmClusters
  const rows = await ctx.db
    .select({ id, name, clusterName })
    .from(slurmClusters)
    .where(and(visibleTo(ctx, slurmClusters), or(isOneOf(name, [...names], 'text'), isOneOf(clusterName, [...names], 'text'))))
  // The name in Muster is unique and comes last, so that it wins.
  return new Map([
    ...rows.map((row) => [row.clusterName ?? '', row.id] as const),
    ...rows.map((row) => [row.name, row.id] as const),
  ])
})

builder.drizzleObjectFields(Agent, (t) => ({
  slurmCluster: t.field({
    type: SlurmCluster,
    nullable: true,
    description: 'The Slurm cluster whose name, or ClusterName, is `cluster`; null when there is none.',
    select: { columns: { cluster: true } },
    resolve: async ({ cluster }, _args, context) => {
      const id = await clustersByName(context, cluster)
      return id ? ({ id } as typeof SlurmCluster.$inferType) : null
    },
  }),
}))

builder.drizzleObjectFields(ComputeNode, (t) => ({
  slurmState: t.field({
    type: ObservedSlurmState,
    nullable: true,
    description:
      'State in Slurm: that of the controller while Muster reads the cluster, else that of the agent. Null when neither reports one.',
    select: { columns: { id: true } },
    resolve: async ({ id }, _args, context) => {
      const controller = await fromControllers(context, id)
      if (controller?.isCurrent) return controller
      return (await fromAgents(context, id)) ?? controller ?? null
    },
  }),
}))
