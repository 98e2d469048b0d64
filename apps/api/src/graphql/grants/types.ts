import { memberPermissions } from '@muster/core/access'
import { permissionDeniedReason } from '@muster/core/context'
import { isOneOf, visibleTo } from '@muster/core/db'
import { schema } from '@muster/core/registry'
import { and, count } from 'drizzle-orm'
import { builder } from '../../builder.ts'
import { actorField, Member } from '../access/people.ts'
import { SlurmCluster } from '../clusters/types.ts'
import { Credential } from '../credentials/types.ts'
import { NodeGroup } from '../groups/types.ts'
import { connectionTypes } from '../shared/connections.ts'
import { loader } from '../shared/loaders.ts'
import { JobTemplate } from '../templates/types.ts'

const { credentials, grants, jobTemplates } = schema

const loadTemplate = loader(async ({ ctx }, ids) => {
  const isWanted = and(visibleTo(ctx, jobTemplates), isOneOf(jobTemplates.id, [...ids]))
  return new Map((await ctx.db.select().from(jobTemplates).where(isWanted)).map((row) => [row.id, row]))
})
const loadCredential = loader(async ({ ctx }, ids) => {
  const isWanted = and(visibleTo(ctx, credentials), isOneOf(credentials.id, [...ids]))
  return new Map((await ctx.db.select().from(credentials).where(isWanted)).map((row) => [row.id, row]))
})
/** Those that still exist. */
const loadAll = async <T>(ids: string[] | null, load: (id: string) => Promise<T | undefined>): Promise<T[] | null> =>
  ids && (await Promise.all(ids.map(load))).filter((row) => row !== undefined)

export const Grant = builder.drizzleNode('grants', {
  name: 'Grant',
  authScopes: { permission: memberPermissions.read },
  description:
    'Gives a member those permissions of a role that concern nodes (`isPerNode`), for the nodes of a group: its members, those of its subgroups and those that match its query. Or those that concern Slurm clusters (`isPerCluster`), for a cluster or some of its partitions.',
  select: { columns: { id: true } },
  id: { column: (grant) => grant.id },
  fields: (t) => ({
    member: t.relation('member', { type: Member, description: 'The member.' }),
    role: t.exposeString('role', { description: 'Name of the role.' }),
    nodeGroup: t.relation('group', {
      type: NodeGroup,
      nullable: true,
      description: 'The group; null for a grant for a cluster.',
    }),
    slurmCluster: t.relation('cluster', {
      type: SlurmCluster,
      nullable: true,
      description: 'The cluster; null for a grant for a group.',
    }),
    partitions: t.exposeStringList('partitions', {
      nullable: true,
      description: 'Names of its partitions, at most 100; null: the whole cluster, or a grant for a group.',
    }),
    jobTemplates: t.field({
      type: [JobTemplate],
      nullable: true,
      description: 'The job templates that the member may run on the nodes, at most 100; null: all.',
      select: { columns: { templateIds: true } },
      resolve: ({ templateIds }, _args, context) => loadAll(templateIds, (id) => loadTemplate(context, id)),
    }),
    credentials: t.field({
      type: [Credential],
      nullable: true,
      description:
        'The credentials with which the member may connect to the nodes, including bastions and that of the repository of a template, at most 100; null: all.',
      select: { columns: { credentialIds: true } },
      resolve: ({ credentialIds }, _args, context) => loadAll(credentialIds, (id) => loadCredential(context, id)),
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the grant was created.' }),
    createdBy: t.field(actorField('created', 'Actor that created the grant.')),
    deleteBlockedReason: t.string({
      nullable: true,
      description: 'Why the caller may not delete the grant; null when allowed.',
      resolve: (_grant, _args, { ctx }) => permissionDeniedReason(ctx.actor, memberPermissions.write),
    }),
  }),
})

export const grantConnection = connectionTypes(Grant, 'Grant', 'grants')

const grantCounts = loader<number>(async ({ ctx }, ids) => {
  const rows = await ctx.db
    .select({ groupId: grants.groupId, count: count() })
    .from(grants)
    .where(and(visibleTo(ctx, grants), isOneOf(grants.groupId, [...ids])))
    .groupBy(grants.groupId)
  return new Map(rows.map((row) => [row.groupId!, row.count]))
})

builder.drizzleObjectField(NodeGroup, 'grantCount', (t) =>
  t.int({
    description: 'Number of grants that give members permissions for the nodes of the group.',
    select: { columns: { id: true } },
    resolve: async ({ id }, _args, context) => (await grantCounts(context, id)) ?? 0,
  }),
)
