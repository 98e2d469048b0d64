import { tenantPermissions } from '@muster/core/access'
import { visibleTo } from '@muster/core/db'
import { schema } from '@muster/core/registry'
import { and, isNotNull, isNull } from 'drizzle-orm'
import { builder } from '../../builder.ts'
import { PAGED } from '../shared/connections.ts'
import { bundleConnection, JobTemplate, PlaybookBundle, templateConnection } from './types.ts'

const { jobTemplates, playbookBundles } = schema

const JobTemplateFilter = builder.inputType('JobTemplateFilter', {
  description: 'Filter of job templates.',
  fields: (t) => ({
    isArchived: t.boolean({ description: 'true: archived; false: available. Default: false.' }),
  }),
})

builder.queryFields((t) => ({
  jobTemplates: t.drizzleConnection(
    {
      type: JobTemplate,
      description: 'Job templates, in order of creation.',
      authScopes: { permission: tenantPermissions.read },
      args: { filter: t.arg({ type: JobTemplateFilter, description: 'Filter. Default: templates that are not archived.' }) },
      ...PAGED,
      totalCount: (_root, { filter }, { ctx }) =>
        ctx.db.$count(
          jobTemplates,
          and(
            visibleTo(ctx, jobTemplates),
            filter?.isArchived ? isNotNull(jobTemplates.archivedAt) : isNull(jobTemplates.archivedAt),
          ),
        ),
      resolve: (query, _root, { filter }, { ctx }) =>
        ctx.db.query.jobTemplates.findMany(
          query({ where: { tenantId: ctx.tenantId, archivedAt: filter?.isArchived ? { isNotNull: true } : { isNull: true } } }),
        ),
    },
    ...templateConnection,
  ),
  jobTemplate: t.drizzleField({
    type: JobTemplate,
    nullable: true,
    description: 'The job template with this name; null when there is none.',
    authScopes: { permission: tenantPermissions.read },
    args: { name: t.arg.string({ required: true, description: 'Name of the template.' }) },
    resolve: (query, _root, { name }, { ctx }) =>
      ctx.db.query.jobTemplates.findFirst(query({ where: { tenantId: ctx.tenantId, name } })),
  }),
}))

builder.queryField('playbookBundles', (t) =>
  t.drizzleConnection(
    {
      type: PlaybookBundle,
      description: 'Playbook bundles, in order of upload.',
      authScopes: { permission: tenantPermissions.read },
      ...PAGED,
      totalCount: (_root, _args, { ctx }) => ctx.db.$count(playbookBundles, visibleTo(ctx, playbookBundles)),
      resolve: (query, _root, _args, { ctx }) =>
        ctx.db.query.playbookBundles.findMany(query({ where: { tenantId: ctx.tenantId } })),
    },
    ...bundleConnection,
  ),
)
