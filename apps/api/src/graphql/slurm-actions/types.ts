import type { Actor } from '@muster/core/context'
import { isOneOf } from '@muster/core/db'
import { schema } from '@muster/core/registry'
import {
  type DeniedTarget,
  SLURM_VERBS,
  type SlurmActionPreview,
  type SlurmTarget,
  type SlurmVerb,
  slurmActionBlockedReason,
  slurmTargetBlockedReason,
  type TargetKind,
  targetKind,
} from '@muster/core/slurm-actions'
import { resolveArrayConnection } from '@pothos/plugin-relay'
import { sql } from 'drizzle-orm'
import { builder } from '../../builder.ts'
import { actorField } from '../access/people.ts'
import { SlurmJob } from '../clusters/jobs.ts'
import { SlurmNode } from '../clusters/nodes.ts'
import { SlurmPartition } from '../clusters/partitions.ts'
import { SlurmCluster } from '../clusters/types.ts'
import { connectionTypes, PAGED } from '../shared/connections.ts'
import { loader } from '../shared/loaders.ts'
import { SlurmActionResult, SlurmActionStatus, SlurmActionVerb } from './enums.ts'

const { slurmActionItems: items } = schema

type ResultCount = { result: NonNullable<typeof items.$inferSelect.result>; count: number }
const countsOf = loader<ResultCount[]>(async ({ ctx }, ids) => {
  const rows = await ctx.db
    .select({ id: items.actionId, result: items.result, count: sql<number>`count(*)::int` })
    .from(items)
    .where(isOneOf(items.actionId, [...ids]))
    .groupBy(items.actionId, items.result)
  return Map.groupBy(
    rows.filter((row): row is ResultCount & { id: string } => row.result !== null),
    ({ id }) => id,
  )
})

const SlurmActionResultCount = builder.objectRef<ResultCount>('SlurmActionResultCount').implement({
  description: 'Number of targets of an action with the same result.',
  fields: (t) => ({
    result: t.expose('result', { type: SlurmActionResult, description: 'Result.' }),
    count: t.exposeInt('count', { description: 'Number of targets.' }),
  }),
})

const SlurmActionItem = builder.drizzleObject('slurmActionItems', {
  name: 'SlurmActionItem',
  description: 'One target of an action.',
  fields: (t) => ({
    target: t.exposeString('target', { description: 'Name of the node, partition or reservation, or ID of the job.' }),
    result: t.expose('result', { type: SlurmActionResult, nullable: true, description: 'Result; null before.' }),
    before: t.exposeString('before', {
      nullable: true,
      description: "Its state before the command, in Slurm's words; null when there was none, or it is not known.",
    }),
    after: t.exposeString('after', { nullable: true, description: 'Its state afterwards; null when there is none.' }),
    sentAt: t.expose('sentAt', { type: 'DateTime', nullable: true, description: 'When a command was sent; null when none was.' }),
    message: t.exposeString('message', {
      nullable: true,
      description: "Slurm's words of a refusal, or why the effect is not known; null otherwise.",
    }),
  }),
})
const itemConnection = connectionTypes(SlurmActionItem, 'SlurmActionItem', 'targets of an action')

export const SlurmAction = builder.drizzleNode('slurmActions', {
  name: 'SlurmAction',
  description:
    'An action on nodes, jobs, partitions or a reservation of a Slurm cluster. A worker runs its commands, and reads the state back.',
  select: { columns: { id: true } },
  id: { column: (action) => action.id, description: 'ID of the action.' },
  fields: (t) => ({
    cluster: t.relation('cluster', { description: 'Its cluster.' }),
    verb: t.expose('verb', { type: SlurmActionVerb, description: 'Kind of the action.' }),
    reason: t.exposeString('reason', { description: 'Reason that the caller gave.' }),
    status: t.expose('status', { type: SlurmActionStatus, description: 'Status of the action.' }),
    targetCount: t.exposeInt('targetCount', { description: 'Number of targets.' }),
    results: t.field({
      type: [SlurmActionResultCount],
      description: 'Number of targets by result, for those that have one. At most 6.',
      select: { columns: { id: true } },
      resolve: async ({ id }, _args, context) => (await countsOf(context, id)) ?? [],
    }),
    items: t.relatedConnection(
      'items',
      {
        description: 'Its targets.',
        totalCount: true,
        args: { result: t.arg({ type: [SlurmActionResult], description: 'One of these results; at most 500.' }) },
        query: ({ result }) => ({ ...(result ? { where: { result: { in: result } } } : {}), orderBy: { id: 'asc' as const } }),
        ...PAGED,
      },
      ...itemConnection,
    ),
    error: t.exposeString('error', {
      nullable: true,
      description: 'Why it ended early, and the next step; null otherwise.',
    }),
    createdBy: t.field(actorField('created', 'Actor that started it.')),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'Time of the request.' }),
    startedAt: t.expose('startedAt', { type: 'DateTime', nullable: true, description: 'When a worker began; null before.' }),
    finishedAt: t.expose('finishedAt', { type: 'DateTime', nullable: true, description: 'Time of the end; null before.' }),
  }),
})
export const slurmActionConnection = connectionTypes(SlurmAction, 'SlurmAction', 'actions on Slurm clusters')

const MAX_JOBS = 500

const SlurmActionTarget = builder.objectRef<SlurmTarget>('SlurmActionTarget').implement({
  description: 'A target of a previewed action, as it was at the last refresh of its cluster.',
  fields: (t) => ({
    target: t.exposeString('target', { description: 'Name of the node, partition or reservation, or ID of the job.' }),
    state: t.exposeString('state', {
      nullable: true,
      description: "Its state in Slurm's words; null when the cluster has no such object.",
    }),
    isReached: t.exposeBoolean('isReached', { description: 'Whether the action would change nothing.' }),
    partitions: t.stringList({
      description: 'Partitions of the node or job; at most 500.',
      resolve: ({ partitions }) => partitions.slice(0, MAX_JOBS),
    }),
    user: t.exposeString('user', { nullable: true, description: "A job's user; null otherwise." }),
    runningJobs: t.stringList({
      description: 'IDs of the jobs that run on the node; at most 500.',
      resolve: ({ runningJobs }) => runningJobs.slice(0, MAX_JOBS),
    }),
  }),
})
const MAX_DENIED = 500

const SlurmDeniedTarget = builder.objectRef<DeniedTarget>('SlurmDeniedTarget').implement({
  description: 'A target that the caller may not change.',
  fields: (t) => ({
    target: t.exposeString('target', { description: 'Name of the node, or ID of the job.' }),
    reason: t.exposeString('reason', { description: 'Why the caller may not change the target.' }),
  }),
})
const targetConnection = connectionTypes(SlurmActionTarget, 'SlurmActionTarget', 'targets of a previewed action')

export const SlurmActionPreviewType = builder.objectRef<SlurmActionPreview>('SlurmActionPreview').implement({
  description: 'Preview of an action. Nothing is started or stored.',
  fields: (t) => ({
    cluster: t.field({
      type: SlurmCluster,
      description: 'The cluster; the preview is as old as its `refreshedAt`.',
      resolve: ({ cluster }) => ({ id: cluster.id }) as typeof SlurmCluster.$inferType,
    }),
    targetCount: t.int({ description: 'Number of targets.', resolve: ({ targets }) => targets.length }),
    runningJobCount: t.int({
      description: 'Number of jobs that run on the nodes.',
      resolve: ({ runningJobs }) => runningJobs.length,
    }),
    targets: t.connection(
      {
        type: SlurmActionTarget,
        description: 'Its targets.',
        ...PAGED,
        resolve: ({ targets }, args) => ({
          ...resolveArrayConnection({ args, maxSize: PAGED.maxSize(args), defaultSize: PAGED.defaultSize }, targets),
          totalCount: targets.length,
        }),
      },
      ...targetConnection,
    ),
    deniedCount: t.int({
      description: 'Number of denied targets, which may exceed the list.',
      resolve: ({ denied }) => denied.length,
    }),
    denied: t.field({
      type: [SlurmDeniedTarget],
      description: `Nodes or jobs that match the conditions, and that the caller may not change: the action leaves them out. At most ${MAX_DENIED}.`,
      resolve: ({ denied }) => denied.slice(0, MAX_DENIED),
    }),
    commands: t.exposeStringList('commands', { description: 'The first commands, as a shell would show them; at most 5.' }),
    commandCount: t.exposeInt('commandCount', { description: 'Number of commands.' }),
    fingerprint: t.exposeString('fingerprint', {
      description: 'For `startSlurmAction`, which then refuses other targets than these.',
    }),
  }),
})

type Permitted = { verb: SlurmVerb; blockedReason: string | null }

const SlurmActionPermission = builder.objectRef<Permitted>('SlurmActionPermission').implement({
  description: 'Whether the caller can do something on a Slurm cluster.',
  fields: (t) => ({
    verb: t.expose('verb', { type: SlurmActionVerb, description: 'Kind of action.' }),
    blockedReason: t.exposeString('blockedReason', { nullable: true, description: 'Why the caller cannot; null when allowed.' }),
  }),
})

builder.drizzleObjectField(SlurmCluster, 'actionPermissions', (t) =>
  t.field({
    type: [SlurmActionPermission],
    description:
      'Whether the caller may use each verb on the cluster or on one of its partitions. Previews check single targets. At most 50.',
    select: { columns: { id: true, name: true, controllerNodeId: true } },
    resolve: (cluster, _args, { ctx }) =>
      SLURM_VERBS.map((verb) => ({ verb, blockedReason: slurmActionBlockedReason(ctx.actor, cluster, verb) })),
  }),
)

const withCluster = { cluster: { columns: { id: true, name: true, controllerNodeId: true } } } as const
const permissionsOf = (what: string) =>
  `Whether the caller may use each ${what}, based on the partitions at the last refresh. Slurm may still refuse a verb because of the current state. At most 50.`
type ClusterOf = Parameters<typeof slurmTargetBlockedReason>[1]

function permitted(kind: TargetKind, actor: Actor, cluster: ClusterOf, partitions: readonly string[]): Permitted[] {
  const verbs = SLURM_VERBS.filter((verb) => targetKind(verb) === kind)
  return verbs.map((verb) => ({ verb, blockedReason: slurmTargetBlockedReason(actor, cluster, verb, partitions) }))
}

builder.drizzleObjectField(SlurmNode, 'actionPermissions', (t) =>
  t.field({
    type: [SlurmActionPermission],
    description: permissionsOf('node verb on this node'),
    select: { columns: { partitions: true }, with: withCluster },
    resolve: ({ cluster, partitions }, _args, { ctx }) => permitted('node', ctx.actor, cluster, partitions),
  }),
)
builder.drizzleObjectField(SlurmJob, 'actionPermissions', (t) =>
  t.field({
    type: [SlurmActionPermission],
    description: permissionsOf('job verb on this job'),
    select: { columns: { report: true }, with: withCluster },
    resolve: ({ cluster, report }, _args, { ctx }) => permitted('job', ctx.actor, cluster, report.partition.split(',')),
  }),
)
builder.drizzleObjectField(SlurmPartition, 'actionPermissions', (t) =>
  t.field({
    type: [SlurmActionPermission],
    description: permissionsOf('partition verb on this partition'),
    select: { columns: { name: true }, with: withCluster },
    resolve: ({ cluster, name }, _args, { ctx }) => permitted('partition', ctx.actor, cluster, [name]),
  }),
)
