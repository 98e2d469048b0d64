import { tenantPermissions } from '@muster/core/access'
import { lookUpSlurmJobs, lookUpSlurmPriority, slurmClusterAudit } from '@muster/core/clusters'
import { Conflict, NotFound } from '@muster/core/errors'
import { builder } from '../../builder.ts'
import { changes } from '../shared/changes.ts'
import { rowId } from '../shared/ids.ts'
import { mutation } from '../shared/mutation.ts'
import { SlurmLookup } from './types.ts'

const payload = { slurmLookup: { type: SlurmLookup, description: 'The started lookup.' } }
const errors = [Conflict, NotFound]

mutation('lookUpSlurmJobs', {
  description:
    'Starts a lookup of finished jobs, or of one job with its steps, in the accounting of a Slurm cluster (sacct). It changes nothing there. Follow it with the subscription `slurmLookupUpdated`.',
  input: (t) => ({
    clusterId: t.id({ required: true, description: 'ID of the cluster.' }),
    jobId: t.string({
      description:
        'Only this job, with its steps: `15`, `3_1` or `12+1`; all tasks for the number of an array. Other fields do not apply then.',
    }),
    user: t.stringList({ description: 'Users of the jobs; at most 100.' }),
    account: t.stringList({ description: 'Accounts of the jobs; at most 100.' }),
    partition: t.stringList({ description: 'Partitions of the jobs; at most 100.' }),
    state: t.stringList({ description: 'Final states of the jobs, for example `FAILED`; at most 9.' }),
    node: t.string({ description: 'Hostlist; jobs that ran on any of these nodes.' }),
    since: t.field({ type: 'DateTime', description: 'Earliest end of the jobs. Default: 30 days before `until`.' }),
    until: t.field({ type: 'DateTime', description: 'Latest end of the jobs. Default: now.' }),
    after: t.string({ description: '`endCursor` of the lookup that this one continues.' }),
    limit: t.int({ description: 'Number of jobs, at most 500. Default: 100.' }),
  }),
  idempotent: true,
  payload,
  errors,
  action: slurmClusterAudit.lookUp,
  resolve: async ({ clusterId, ...input }, { ctx }) => ({
    slurmLookup: await lookUpSlurmJobs(ctx, { ...input, clusterId: rowId('SlurmCluster', clusterId) }),
  }),
})

mutation('lookUpSlurmPriority', {
  description:
    'Starts a lookup of the priority factors of a pending job (sprio), and of the shares of its user and account (sshare). It changes nothing in the cluster. Follow it with the subscription `slurmLookupUpdated`.',
  input: (t) => ({
    clusterId: t.id({ required: true, description: 'ID of the cluster.' }),
    jobId: t.string({ required: true, description: 'ID of the job as squeue shows it.' }),
  }),
  idempotent: true,
  payload,
  errors,
  action: slurmClusterAudit.lookUp,
  resolve: async ({ clusterId, ...input }, { ctx }) => ({
    slurmLookup: await lookUpSlurmPriority(ctx, { ...input, clusterId: rowId('SlurmCluster', clusterId) }),
  }),
})

builder.subscriptionFields((t) => ({
  slurmLookupUpdated: t.drizzleField({
    type: SlurmLookup,
    description: 'Emits a lookup in a Slurm cluster now and when it changes. Completes when it has finished.',
    authScopes: { permission: tenantPermissions.read },
    args: { id: t.arg.id({ required: true, description: 'ID of the lookup.' }) },
    subscribe: (_root, { id }, context) => changes(context, 'slurmLookup', [rowId('SlurmLookup', id)]),
    resolve: async (query, id, _args, { ctx }) =>
      (await ctx.db.query.slurmLookups.findFirst(query({ where: { tenantId: ctx.tenantId, id: id as string } })))!,
  }),
}))
