import { tenantPermissions } from '@muster/core/access'
import { Conflict, NotFound } from '@muster/core/errors'
import { checkSlurmReadiness, type SlurmReadinessNode, slurmReadinessAudit } from '@muster/core/slurm-scaling'
import { builder } from '../../builder.ts'
import { saltFields } from '../clusters/salt-fields.ts'
import { changes } from '../shared/changes.ts'
import { globalId, rowId, rowIdIfGiven } from '../shared/ids.ts'
import { mutation } from '../shared/mutation.ts'
import { SlurmNodeCheckType } from '../slurm-operations/types.ts'

const SlurmReadinessNodeType = builder.objectRef<SlurmReadinessNode>('SlurmReadinessNode').implement({
  description: 'A node that may join a Slurm cluster, and what was found over SSH and through Salt.',
  fields: (t) => ({
    nodeId: t.id({ description: 'ID of the node.', resolve: ({ nodeId }) => globalId('ComputeNode', nodeId) }),
    name: t.exposeString('name', { description: 'Name of the node.' }),
    checks: t.expose('checks', {
      type: [SlurmNodeCheckType],
      nullable: true,
      description: 'What was found, at most 100; null until the node was checked.',
    }),
    isReady: t.boolean({
      nullable: true,
      description: 'Whether no check failed; null until the node was checked.',
      resolve: ({ checks }) => checks?.every(({ state }) => state !== 'FAILED') ?? null,
    }),
  }),
})

export const SlurmReadinessCheck = builder.drizzleNode('slurmReadinessChecks', {
  name: 'SlurmReadinessCheck',
  description: 'A check of nodes over SSH: whether they can join a Slurm cluster. It changes nothing.',
  select: { columns: { id: true } },
  id: { column: (check) => check.id, description: 'ID of the check.' },
  fields: (t) => ({
    cluster: t.relation('cluster', { nullable: true, description: 'Cluster to join; null for a new cluster.' }),
    nodes: t.expose('nodes', { type: [SlurmReadinessNodeType], description: 'The nodes; at most 500.' }),
    error: t.exposeString('error', { nullable: true, description: 'Why the check could not be made; null otherwise.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'Time of the request.' }),
    startedAt: t.expose('startedAt', { type: 'DateTime', nullable: true, description: 'When a worker began; null before.' }),
    finishedAt: t.expose('finishedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the check finished; null while it is waiting or running.',
    }),
  }),
})

mutation('checkSlurmReadiness', {
  description:
    'Starts a check of nodes over SSH: whether they can join a Slurm cluster now. It changes nothing. Follow it with the subscription `slurmReadinessCheckUpdated`.',
  input: (t) => ({
    clusterId: t.id({ description: 'ID of the cluster to join; null for a new cluster.' }),
    limit: t.string({ description: 'Nodes of the inventory: a hostlist, group or query. Give either the limit or the IDs.' }),
    nodeIds: t.idList({ description: 'Nodes of the inventory; at most 500.' }),
    prefix: t.string({ description: 'Folder with an installed Slurm, for a new cluster. Default: packages are installed.' }),
    ...saltFields(t),
  }),
  idempotent: true,
  payload: { slurmReadinessCheck: { type: SlurmReadinessCheck, description: 'The started check.' } },
  errors: [Conflict, NotFound],
  action: slurmReadinessAudit.check,
  resolve: async ({ clusterId, nodeIds, saltCredentialId, ...input }, { ctx }) => ({
    slurmReadinessCheck: await checkSlurmReadiness(ctx, {
      ...input,
      clusterId: rowIdIfGiven('SlurmCluster', clusterId),
      saltCredentialId: rowIdIfGiven('Credential', saltCredentialId),
      nodeIds: nodeIds?.map((id) => rowId('ComputeNode', id)),
    }),
  }),
})

builder.subscriptionFields((t) => ({
  slurmReadinessCheckUpdated: t.drizzleField({
    type: SlurmReadinessCheck,
    description: 'Emits a check of nodes now and after each node. Completes when it has finished.',
    authScopes: { permission: tenantPermissions.read },
    args: { id: t.arg.id({ required: true, description: 'ID of the check.' }) },
    subscribe: (_root, { id }, context) => changes(context, 'slurmReadinessCheck', [rowId('SlurmReadinessCheck', id)]),
    resolve: async (query, id, _args, { ctx }) =>
      (await ctx.db.query.slurmReadinessChecks.findFirst(query({ where: { tenantId: ctx.tenantId, id: id as string } })))!,
  }),
}))
