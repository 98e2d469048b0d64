import {
  formatGres,
  gresTotals,
  type ScaleCandidate,
  type ScaleInTarget,
  type SlurmScaleInPreview,
  type SlurmScaleOutPreview,
  scaleBlockedReason,
} from '@muster/core/slurm-scaling'
import { builder } from '../../builder.ts'
import { SlurmCluster } from '../clusters/types.ts'
import { ComputeNode } from '../nodes/types.ts'
import { SlurmConfigDiff, SlurmConfigPlan } from '../slurm-configs/types.ts'

const SlurmScaleCandidate = builder.objectRef<ScaleCandidate>('SlurmScaleCandidate').implement({
  description: 'A node that may join a Slurm cluster.',
  fields: (t) => ({
    node: t.drizzleField({
      type: ComputeNode,
      description: 'The node.',
      resolve: async (query, { node }, _args, { ctx }) =>
        (await ctx.db.query.computeNodes.findFirst(query({ where: { tenantId: ctx.tenantId, id: node.id } })))!,
    }),
    slurmName: t.string({
      nullable: true,
      description: 'NodeName that it gets; null when it was never discovered.',
      resolve: ({ config }) => config?.name ?? null,
    }),
    cpus: t.int({
      nullable: true,
      description: 'CPUs that slurm.conf gets; null when it was never discovered.',
      resolve: ({ config }) => config && config.sockets * config.coresPerSocket * config.threadsPerCore,
    }),
    gres: t.stringList({
      description: 'GRES that slurm.conf gets, such as `gpu:h100:8`; at most 50.',
      resolve: ({ config }) => gresTotals(config?.gres ?? []).map(formatGres),
    }),
    blockedReason: t.exposeString('blockedReason', {
      nullable: true,
      description: 'Why the node cannot join; null when it can.',
    }),
  }),
})

export const SlurmScaleOutPreviewType = builder.objectRef<SlurmScaleOutPreview>('SlurmScaleOutPreview').implement({
  description: 'What a scale-out would do, by the last discovery of the nodes.',
  fields: (t) => ({
    candidates: t.expose('candidates', { type: [SlurmScaleCandidate], description: 'The nodes; at most 10,000.' }),
    blockedReason: t.exposeString('blockedReason', {
      nullable: true,
      description: 'Why the cluster cannot get these nodes; null when it can get those that are not blocked.',
    }),
    diff: t.expose('diff', { type: [SlurmConfigDiff], description: 'Files that change; at most 4.' }),
    plan: t.expose('plan', { type: SlurmConfigPlan, nullable: true, description: 'What Slurm does; null when nothing changes.' }),
    fingerprint: t.exposeString('fingerprint', { description: 'For `scaleOutSlurmCluster`.' }),
  }),
})

const SlurmScaleInTarget = builder.objectRef<ScaleInTarget>('SlurmScaleInTarget').implement({
  description: 'A node that leaves a Slurm cluster.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'NodeName.' }),
    state: t.exposeString('state', {
      nullable: true,
      description: "State in Slurm's words at the last refresh; null when the cluster does not list the node.",
    }),
    jobs: t.exposeStringList('jobs', { description: 'IDs of jobs on the node; at most 10,000.' }),
    blockedReason: t.exposeString('blockedReason', {
      nullable: true,
      description: 'Why the node cannot be removed now; null when it can.',
    }),
  }),
})

export const SlurmScaleInPreviewType = builder.objectRef<SlurmScaleInPreview>('SlurmScaleInPreview').implement({
  description: 'What a scale-in would do, by the last refresh of the cluster.',
  fields: (t) => ({
    targets: t.expose('targets', { type: [SlurmScaleInTarget], description: 'The nodes; at most 10,000.' }),
    diff: t.expose('diff', { type: [SlurmConfigDiff], description: 'Files that change; at most 4.' }),
    plan: t.expose('plan', { type: SlurmConfigPlan, description: 'What Slurm does.' }),
    fingerprint: t.exposeString('fingerprint', { description: 'For `scaleInSlurmCluster`.' }),
  }),
})

builder.drizzleObjectField(SlurmCluster, 'scaleBlockedReason', (t) =>
  t.string({
    nullable: true,
    description: 'Why the current user cannot add nodes to the cluster or remove nodes from it; null when possible.',
    select: { columns: { id: true, name: true, kind: true, controllerNodeId: true, configNumber: true } },
    resolve: (cluster, _args, { ctx }) => scaleBlockedReason(ctx.actor, cluster),
  }),
)
