import { schema, visibleTo } from '@muster/core/db'
import { type BundleFile, bundleUsers, whyNotDeleteBundle, whyNotEditTemplate } from '@muster/core/jobs'
import { desc, eq } from 'drizzle-orm'
import { builder } from '../builder.ts'
import { connectionTypes, PAGED } from './connections.ts'
import { PlaybookSource } from './enums.ts'
import { JobRun, JobTemplate } from './jobs.ts'
import { loader } from './loaders.ts'

const { jobTemplateVersions, playbookBundles } = schema

const users = loader(({ ctx }, ids) => bundleUsers(ctx.db, ctx, [...ids]))

const PlaybookBundleFile = builder.objectRef<BundleFile>('PlaybookBundleFile').implement({
  description: 'A file of a bundle.',
  fields: (t) => ({
    path: t.exposeString('path', { description: 'Its path from the root of the bundle.' }),
    size: t.exposeInt('size', { description: 'Its size in bytes.' }),
  }),
})

export const PlaybookBundle = builder.drizzleNode('playbookBundles', {
  name: 'PlaybookBundle',
  description: 'Playbooks, roles and files that somebody uploaded in one archive. It never changes.',
  select: { columns: { id: true } },
  id: { column: (bundle) => bundle.id },
  fields: (t) => ({
    name: t.exposeString('name', { description: "The file's name when it was uploaded." }),
    sha256: t.exposeString('sha256', { description: 'Of the archive, in hexadecimal digits.' }),
    size: t.exposeInt('size', { description: 'Size of the archive in bytes.' }),
    files: t.expose('files', { type: [PlaybookBundleFile], description: 'What is in it, by path.' }),
    createdByName: t.exposeString('createdByName', { description: 'Who uploaded it.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When.' }),
    deleteBlockedReason: t.string({
      nullable: true,
      description: 'Why it cannot be deleted: what needs it, or that the caller may not; null: it can.',
      select: { columns: { id: true, name: true } },
      resolve: async (bundle, _args, context) => whyNotDeleteBundle(context.ctx.actor, bundle, await users(context, bundle.id)),
    }),
  }),
})

const bundleConnection = connectionTypes(PlaybookBundle, 'PlaybookBundle', 'playbook bundles')
builder.queryField('playbookBundles', (t) =>
  t.drizzleConnection(
    {
      type: PlaybookBundle,
      description: 'Playbook bundles, in the order in which they were uploaded.',
      authScopes: { authenticated: true },
      ...PAGED,
      totalCount: (_root, _args, { ctx }) => ctx.db.$count(playbookBundles, visibleTo(ctx, playbookBundles)),
      resolve: (query, _root, _args, { ctx }) =>
        ctx.db.query.playbookBundles.findMany(query({ where: { tenantId: ctx.tenantId } })),
    },
    ...bundleConnection,
  ),
)

const JobTemplateVersion = builder.objectRef<typeof jobTemplateVersions.$inferSelect>('JobTemplateVersion').implement({
  description: 'What a template was after one of its changes.',
  fields: (t) => ({
    version: t.exposeInt('version', { description: 'Its number, from 1.' }),
    settings: t.expose('snapshot', { type: 'JSON', description: 'All that can be set of a template, as it was then.' }),
    reason: t.exposeString('reason', { nullable: true, description: 'Why it was changed, in the words of who did.' }),
    createdByName: t.exposeString('createdByName', { description: 'Who changed it.' }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When.' }),
  }),
})

builder.drizzleObjectFields(JobTemplate, (t) => ({
  source: t.expose('source', { type: PlaybookSource, description: 'Where its playbook comes from.' }),
  bundle: t.relation('bundle', { nullable: true, description: 'The bundle, when its playbook comes from one.' }),
  gitUrl: t.exposeString('gitUrl', { nullable: true, description: 'The repository, when its playbook comes from one.' }),
  gitRef: t.exposeString('gitRef', {
    nullable: true,
    description: 'Branch, tag or commit; each run uses the commit that it names when the run begins.',
  }),
  gitCredential: t.relation('gitCredential', {
    nullable: true,
    description: 'What opens the repository; null: anybody can read it.',
  }),
  serial: t.exposeString('serial', {
    nullable: true,
    description: 'Hosts at a time, as Ansible takes it: `5`, `30%`, `1,5,30%`. Null: what the playbook says.',
  }),
  maxFailPercentage: t.exposeInt('maxFailPercentage', {
    nullable: true,
    description: 'The play ends when more than this share of the hosts has failed, in %. Null: what the playbook says.',
  }),
  jobTags: t.exposeStringList('jobTags', { description: 'Only tasks with one of these tags are run; empty: all.' }),
  skipTags: t.exposeStringList('skipTags', { description: 'Tasks with one of these tags are left out.' }),
  inputSchema: t.expose('inputSchema', {
    type: 'JSON',
    nullable: true,
    description:
      'JSON Schema (draft 2020-12) that the extra vars of its runs must fit. `x-secret: true` marks text that is kept sealed; `x-show-if: {other: value}` tells forms when to show a property. Null: anything goes.',
  }),
  isReadOnly: t.exposeBoolean('isReadOnly', {
    description: 'Whether it changes nothing on nodes, so that its runs need not wait for others there.',
  }),
  version: t.exposeInt('version', { description: 'Goes up by one with every change.' }),
  versions: t.field({
    type: [JobTemplateVersion],
    description: 'What it was after each change, the newest first, at most 100.',
    select: { columns: { id: true } },
    resolve: ({ id }, _args, { ctx }) =>
      ctx.db
        .select()
        .from(jobTemplateVersions)
        .where(eq(jobTemplateVersions.templateId, id))
        .orderBy(desc(jobTemplateVersions.version))
        .limit(100),
  }),
  archivedAt: t.expose('archivedAt', { type: 'DateTime', nullable: true, description: 'When it was taken out of use.' }),
  editBlockedReason: t.string({
    nullable: true,
    description: 'Why the caller may not change or archive it; null: allowed.',
    select: { columns: { name: true, isSystem: true, archivedAt: true } },
    resolve: (template, _args, { ctx }) => whyNotEditTemplate(ctx.actor, template),
  }),
}))

builder.drizzleObjectFields(JobRun, (t) => ({
  templateVersion: t.exposeInt('templateVersion', {
    nullable: true,
    description: "The template's version that it uses; null for runs from before versions were kept.",
  }),
  source: t.expose('source', { type: PlaybookSource, description: 'Where its playbook comes from.' }),
  bundle: t.relation('bundle', { nullable: true, description: 'The bundle that it uses, when its playbook comes from one.' }),
  gitUrl: t.exposeString('gitUrl', { nullable: true, description: 'The repository, when its playbook comes from one.' }),
  gitRef: t.exposeString('gitRef', { nullable: true, description: 'The branch, tag or commit that was asked for.' }),
  gitCommit: t.exposeString('gitCommit', {
    nullable: true,
    description: 'The commit that it really uses; null until a worker has fetched it.',
  }),
  hasSecretVars: t.boolean({
    description: 'Whether it was given secret extra vars, which nobody is shown.',
    select: { columns: { secretsId: true } },
    resolve: (run) => run.secretsId !== null,
  }),
}))
