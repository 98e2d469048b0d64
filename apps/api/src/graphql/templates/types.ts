import { schema } from '@muster/core/registry'
import { type BundleFile, bundleUsers, deleteBundleBlockedReason, editTemplateBlockedReason } from '@muster/core/templates'
import { desc, eq } from 'drizzle-orm'
import { builder } from '../../builder.ts'
import { actorField } from '../access/people.ts'
import { BecomeMethod } from '../credentials/enums.ts'
import { connectionTypes } from '../shared/connections.ts'
import { loader } from '../shared/loaders.ts'
import { PlaybookSource } from './enums.ts'

const { jobTemplateVersions } = schema

export const becomeMethod = (method: string) => (method === 'su' ? 'su' : 'sudo')

export const JobTemplate = builder.drizzleNode('jobTemplates', {
  name: 'JobTemplate',
  description: 'A playbook that can be run, with what it runs with unless the caller says otherwise.',
  select: { columns: { id: true } },
  id: { column: (job) => job.id },
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name, unique in the tenant.' }),
    displayName: t.exposeString('displayName', { description: 'A name for people.' }),
    description: t.exposeString('description', { description: 'What it does.' }),
    category: t.exposeString('category', { description: 'Where it is listed.' }),
    playbookPath: t.exposeString('playbookPath', { description: 'Its playbook, relative to the root of its source.' }),
    become: t.exposeBoolean('become', { description: 'Whether its tasks run as another user.' }),
    becomeMethod: t.field({
      type: BecomeMethod,
      description: 'How they become that user.',
      select: { columns: { becomeMethod: true } },
      resolve: (job) => becomeMethod(job.becomeMethod),
    }),
    becomeUser: t.exposeString('becomeUser', { description: 'The user they become.' }),
    timeoutSeconds: t.exposeInt('timeoutSeconds', { description: 'A run that takes longer is stopped, in s.' }),
    forks: t.exposeInt('forks', { description: 'How many hosts are worked on at once.' }),
    defaultVars: t.expose('defaultVars', {
      type: 'JSON',
      description: 'Extra vars that a run has unless it sets them otherwise.',
    }),
    tags: t.exposeStringList('tags', { description: 'Words to find it by.' }),
    isSystem: t.exposeBoolean('isSystem', { description: 'Whether it is shipped with Muster.' }),
    isIdempotent: t.exposeBoolean('isIdempotent', {
      description: 'Whether a run whose worker died may be started again by itself.',
    }),
  }),
})

export const templateConnection = connectionTypes(JobTemplate, 'JobTemplate', 'job templates')

const users = loader(({ ctx }, ids) => bundleUsers(ctx.db, ctx, [...ids]))

const PlaybookBundleFile = builder.objectRef<BundleFile>('PlaybookBundleFile').implement({
  description: 'A file of a playbook bundle.',
  fields: (t) => ({
    path: t.exposeString('path', { description: 'Path relative to the root of the bundle.' }),
    sizeBytes: t.exposeInt('size', { description: 'Size in bytes.' }),
  }),
})

export const PlaybookBundle = builder.drizzleNode('playbookBundles', {
  name: 'PlaybookBundle',
  description: 'Playbooks, roles and files that were uploaded as one archive. A bundle never changes.',
  select: { columns: { id: true } },
  id: { column: (bundle) => bundle.id },
  fields: (t) => ({
    name: t.exposeString('name', { description: 'File name of the archive.' }),
    sha256: t.exposeString('sha256', { description: 'SHA-256 of the archive in hexadecimal digits.' }),
    sizeBytes: t.exposeInt('size', { description: 'Size of the archive in bytes.' }),
    files: t.expose('files', { type: [PlaybookBundleFile], description: 'Files, ordered by path. At most 2,000.' }),
    createdBy: t.field(actorField('created', 'Who uploaded the bundle.')),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the bundle was uploaded.' }),
    deleteBlockedReason: t.string({
      nullable: true,
      description: 'Why the caller cannot delete the bundle; null when allowed.',
      select: { columns: { id: true, name: true } },
      resolve: async (bundle, _args, context) =>
        deleteBundleBlockedReason(context.ctx.actor, bundle, await users(context, bundle.id)),
    }),
  }),
})

export const bundleConnection = connectionTypes(PlaybookBundle, 'PlaybookBundle', 'playbook bundles')

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
    resolve: (template, _args, { ctx }) => editTemplateBlockedReason(ctx.actor, template),
  }),
}))
