import { tenantPermissions } from '@muster/core/access'
import { isOneOf, visibleTo } from '@muster/core/db'
import { schema } from '@muster/core/registry'
import { and, eq, gte, lt, or, type SQL, sql } from 'drizzle-orm'
import { builder } from '../../builder.ts'
import { limitDescription, limitedNodeIds } from '../nodes/filter.ts'
import { PAGED } from '../shared/connections.ts'
import { contains } from '../shared/contains.ts'
import { SortDirection } from '../shared/enums.ts'
import { rowId, rowIdIfGiven } from '../shared/ids.ts'
import { JobRunOrderField, JobRunStatus } from './enums.ts'
import { JobRun, runConnection } from './types.ts'

const { jobRunHosts, jobRuns } = schema

const JobRunFilter = builder.inputType('JobRunFilter', {
  description: 'Filter of runs. A run must match all fields that are given.',
  fields: (t) => ({
    status: t.field({ type: [JobRunStatus], description: 'Has one of these statuses; at most 500.' }),
    templateId: t.id({ description: 'Is a run of this template.' }),
    nodeId: t.idList({ description: 'Includes one of these nodes; at most 500.' }),
    limit: t.string({ description: limitDescription('Includes') }),
    createdAfter: t.field({ type: 'DateTime', description: 'Was created at this time or later.' }),
    createdBefore: t.field({ type: 'DateTime', description: 'Was created before this time.' }),
    text: t.string({
      description: 'Has this text in the template name, limit, reason or name of its creator, ignoring case.',
    }),
  }),
})

const JobRunOrder = builder.inputType('JobRunOrder', {
  description: 'Order of runs.',
  fields: (t) => ({
    field: t.field({ type: JobRunOrderField, required: true, description: 'Field to order by.' }),
    direction: t.field({ type: SortDirection, required: true, description: 'Direction.' }),
  }),
})

/** @param limited query for the IDs of the nodes of `filter.limit` */
function runConditions(filter: typeof JobRunFilter.$inferInput | null | undefined, r: typeof jobRuns, limited: SQL | undefined) {
  if (!filter) return undefined
  const { status, text, createdAfter, createdBefore } = filter
  const templateId = rowIdIfGiven('JobTemplate', filter.templateId)
  const nodeIds = filter.nodeId?.map((id) => rowId('ComputeNode', id))
  return and(
    status ? isOneOf(r.status, status, 'text') : undefined,
    templateId ? eq(r.templateId, templateId) : undefined,
    nodeIds ? hasHost(r, isOneOf(jobRunHosts.nodeId, nodeIds)) : undefined,
    limited ? hasHost(r, sql`${jobRunHosts.nodeId} in (${limited})`) : undefined,
    createdAfter ? gte(r.createdAt, createdAfter) : undefined,
    createdBefore ? lt(r.createdAt, createdBefore) : undefined,
    text ? or(...[r.templateName, r.limit, r.reason, r.createdByName].map((column) => contains(column, text))) : undefined,
  )
}

const hasHost = (r: typeof jobRuns, condition: SQL) =>
  sql`exists (select from ${jobRunHosts} where ${jobRunHosts.jobRunId} = ${r.id} and ${condition})`

builder.queryFields((t) => ({
  jobRun: t.drizzleField({
    type: JobRun,
    nullable: true,
    description: 'The run with this number; null when there is none.',
    authScopes: { permission: tenantPermissions.read },
    args: { number: t.arg.int({ required: true, description: 'Number of the run.' }) },
    resolve: (query, _root, { number }, { ctx }) =>
      ctx.db.query.jobRuns.findFirst(query({ where: { tenantId: ctx.tenantId, number } })),
  }),
  jobRuns: t.drizzleConnection(
    {
      type: JobRun,
      description: 'Runs, newest first unless `orderBy` is given.',
      authScopes: { permission: tenantPermissions.read },
      args: {
        filter: t.arg({ type: JobRunFilter, description: 'Filter.' }),
        orderBy: t.arg({ type: JobRunOrder, description: 'Order.' }),
      },
      ...PAGED,
      totalCount: async (_root, { filter }, context) => {
        const { ctx } = context
        const limited = await limitedNodeIds(filter?.limit, context)
        return ctx.db.$count(jobRuns, and(visibleTo(ctx, jobRuns), runConditions(filter, jobRuns, limited)))
      },
      resolve: async (query, _root, { filter, orderBy }, context) => {
        const { ctx } = context
        const limited = await limitedNodeIds(filter?.limit, context)
        return ctx.db.query.jobRuns.findMany(
          query({
            where: { tenantId: ctx.tenantId, RAW: (r) => runConditions(filter, r, limited) ?? sql`true` },
            orderBy: { id: orderBy?.direction === 'ASC' ? 'asc' : 'desc' },
          }),
        )
      },
    },
    ...runConnection,
  ),
}))
