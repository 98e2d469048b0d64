import { isOneOf, visibleTo } from '@muster/core/db'
import { schema } from '@muster/core/registry'
import { and, eq, or, sql } from 'drizzle-orm'
import { builder } from '../../builder.ts'
import { PAGED } from '../shared/connections.ts'
import { contains } from '../shared/contains.ts'
import { SortDirection } from '../shared/enums.ts'
import { rowIdIfGiven } from '../shared/ids.ts'
import { JobRunOrderField, JobRunStatus } from './enums.ts'
import { JobRun, runConnection } from './types.ts'

const { jobRunHosts, jobRuns } = schema

const JobRunFilter = builder.inputType('JobRunFilter', {
  description: 'Which runs to list; a run must fit everything that is given.',
  fields: (t) => ({
    status: t.field({ type: [JobRunStatus], description: 'Has one of these statuses.' }),
    templateId: t.id({ description: 'Is of this template.' }),
    nodeId: t.id({ description: 'Runs on this node, among others.' }),
    text: t.string({
      description: 'Stands somewhere in the template name, limit, reason or name of who started it; case does not count.',
    }),
  }),
})

const JobRunOrder = builder.inputType('JobRunOrder', {
  description: 'In which order to list runs.',
  fields: (t) => ({
    field: t.field({ type: JobRunOrderField, required: true, description: 'By what.' }),
    direction: t.field({ type: SortDirection, required: true, description: 'In which direction.' }),
  }),
})

function runConditions(filter: typeof JobRunFilter.$inferInput | null | undefined, r: typeof jobRuns) {
  if (!filter) return undefined
  const { status, text } = filter
  const templateId = rowIdIfGiven('JobTemplate', filter.templateId)
  const nodeId = rowIdIfGiven('ComputeNode', filter.nodeId)
  return and(
    status ? isOneOf(r.status, status, 'text') : undefined,
    templateId ? eq(r.templateId, templateId) : undefined,
    nodeId ? sql`exists (select from ${jobRunHosts} h where h.job_run_id = ${r.id} and h.node_id = ${nodeId})` : undefined,
    text ? or(...[r.templateName, r.limit, r.reason, r.createdByName].map((column) => contains(column, text))) : undefined,
  )
}

builder.queryFields((t) => ({
  jobRuns: t.drizzleConnection(
    {
      type: JobRun,
      description: 'Runs, without `orderBy` the newest first.',
      authScopes: { authenticated: true },
      args: {
        filter: t.arg({ type: JobRunFilter, description: 'Which runs.' }),
        orderBy: t.arg({ type: JobRunOrder, description: 'In which order.' }),
      },
      ...PAGED,
      totalCount: (_root, { filter }, { ctx }) =>
        ctx.db.$count(jobRuns, and(visibleTo(ctx, jobRuns), runConditions(filter, jobRuns))),
      resolve: (query, _root, { filter, orderBy }, { ctx }) =>
        ctx.db.query.jobRuns.findMany(
          query({
            where: { tenantId: ctx.tenantId, RAW: (r) => runConditions(filter, r) ?? sql`true` },
            orderBy: { id: orderBy?.direction === 'ASC' ? 'asc' : 'desc' },
          }),
        ),
    },
    ...runConnection,
  ),
}))
