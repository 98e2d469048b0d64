import { isOneOf, visibleTo } from '@muster/core/db'
import { schema } from '@muster/core/registry'
import {
  type BundleFile,
  bundleUsers,
  deleteBundleBlockedReason,
  editTemplateBlockedReason,
  type TemplateSnapshot,
} from '@muster/core/templates'
import { and } from 'drizzle-orm'
import { builder } from '../../builder.ts'
import { actorField } from '../access/people.ts'
import { BecomeMethod } from '../credentials/enums.ts'
import { Credential } from '../credentials/types.ts'
import { connectionTypes, PAGED } from '../shared/connections.ts'
import { loader } from '../shared/loaders.ts'
import { PlaybookSource } from './enums.ts'

const { credentials } = schema

/** The stored settings of a template or of one of its versions. */
type Settings = Pick<TemplateSnapshot, keyof typeof SETTINGS_COLUMNS>

export const becomeMethod = (method: string) => (method === 'su' ? 'su' : 'sudo')

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
    createdBy: t.field(actorField('created', 'Actor that uploaded the bundle.')),
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

/** IDs of the credentials that exist: versions keep the IDs of deleted ones. */
const existing = loader<string>(async ({ ctx }, ids) => {
  const rows = await ctx.db
    .select({ id: credentials.id })
    .from(credentials)
    .where(and(visibleTo(ctx, credentials), isOneOf(credentials.id, [...ids])))
  return new Map(rows.map(({ id }) => [id, id]))
})

const JobTemplateGitSource = builder.objectRef<Settings>('JobTemplateGitSource').implement({
  description: 'The git repository from which a template takes its playbook.',
  fields: (t) => ({
    url: t.string({ description: 'URL of the repository.', resolve: ({ gitUrl }) => gitUrl! }),
    ref: t.string({
      description: 'Branch, tag or commit. Each run uses the commit that it names when the run starts.',
      resolve: ({ gitRef }) => gitRef!,
    }),
    credential: t.field({
      type: Credential,
      nullable: true,
      description: 'Credential for the repository; null for public repositories.',
      resolve: async ({ gitCredentialId }, _args, context) => {
        const id = gitCredentialId && (await existing(context, gitCredentialId))
        return id ? ({ id } as typeof Credential.$inferType) : null
      },
    }),
  }),
})

const JobTemplateSettings = builder.objectRef<Settings>('JobTemplateSettings').implement({
  description: 'Settings of a job template. Runs may override some of them.',
  fields: (t) => ({
    source: t.expose('source', { type: PlaybookSource, description: 'Where the playbook comes from.' }),
    playbookPath: t.exposeString('playbookPath', { description: 'Path of the playbook, relative to the root of its source.' }),
    bundle: t.field({
      type: PlaybookBundle,
      nullable: true,
      description: 'The bundle of the playbook; null for other sources.',
      resolve: ({ bundleId }) => (bundleId ? ({ id: bundleId } as typeof PlaybookBundle.$inferType) : null),
    }),
    git: t.field({
      type: JobTemplateGitSource,
      nullable: true,
      description: 'The git repository of the playbook; null for other sources.',
      resolve: (settings) => (settings.gitUrl ? settings : null),
    }),
    become: t.exposeBoolean('become', { description: 'Whether tasks run as another user.' }),
    becomeMethod: t.field({
      type: BecomeMethod,
      description: 'Privilege escalation method.',
      resolve: (settings) => becomeMethod(settings.becomeMethod),
    }),
    becomeUser: t.exposeString('becomeUser', { description: 'User that tasks run as.' }),
    timeoutSeconds: t.exposeInt('timeoutSeconds', { description: 'Timeout of a run in seconds.' }),
    forks: t.exposeInt('forks', { description: 'Number of hosts to work on at once.' }),
    serial: t.exposeString('serial', {
      nullable: true,
      description: 'Batch size of hosts: `5`, `30%` or `1,5,30%`; null: as set in the playbook.',
    }),
    maxFailPercentage: t.exposeInt('maxFailPercentage', {
      nullable: true,
      description:
        'The play is aborted when more than this percentage of the hosts of a batch failed; null: as set in the playbook.',
    }),
    jobTags: t.exposeStringList('jobTags', { description: 'Only tasks with one of these tags run; empty: all. At most 50.' }),
    skipTags: t.exposeStringList('skipTags', { description: 'Tasks with one of these tags are skipped. At most 50.' }),
    inputSchema: t.expose('inputSchema', {
      type: 'JSON',
      nullable: true,
      description:
        'JSON Schema (draft 2020-12) that the extra vars of runs must match; null: any. `x-secret: true` marks text that is stored encrypted, `x-show-if: {other: value}` tells forms when to show a property. `x-reboots: true` marks a boolean with which runs may reboot their nodes, which are then in maintenance during the run.',
    }),
    defaultVars: t.expose('defaultVars', {
      type: 'JSON',
      description: 'Extra vars that runs have unless they set them: an object.',
    }),
    isIdempotent: t.exposeBoolean('isIdempotent', {
      description: 'Whether a run is restarted automatically when its worker is lost.',
    }),
    isReadOnly: t.exposeBoolean('isReadOnly', {
      description: 'Whether runs change nothing on nodes, so that they neither lock nodes nor wait for locks.',
    }),
  }),
})

const JobTemplateVersion = builder.drizzleObject('jobTemplateVersions', {
  name: 'JobTemplateVersion',
  description: 'A version of a job template.',
  select: { columns: { id: true } },
  fields: (t) => ({
    version: t.exposeInt('version', { description: 'Version number, from 1.' }),
    name: t.string({
      description: 'Name of the template in this version.',
      select: { columns: { snapshot: true } },
      resolve: ({ snapshot }) => snapshot.name,
    }),
    settings: t.field({
      type: JobTemplateSettings,
      description: 'Settings in this version.',
      select: { columns: { snapshot: true } },
      resolve: ({ snapshot }) => snapshot,
    }),
    reason: t.exposeString('reason', {
      nullable: true,
      description: 'Why the template was changed; null when no reason was given.',
    }),
    createdBy: t.field(actorField('created', 'Actor that changed the template.')),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the template was changed.' }),
  }),
})

const versionConnection = connectionTypes(JobTemplateVersion, 'JobTemplateVersion', 'versions')

const SETTINGS_COLUMNS = {
  source: true,
  bundleId: true,
  gitUrl: true,
  gitRef: true,
  gitCredentialId: true,
  playbookPath: true,
  become: true,
  becomeMethod: true,
  becomeUser: true,
  timeoutSeconds: true,
  forks: true,
  serial: true,
  maxFailPercentage: true,
  jobTags: true,
  skipTags: true,
  inputSchema: true,
  defaultVars: true,
  isIdempotent: true,
  isReadOnly: true,
} as const

export const JobTemplate = builder.drizzleNode('jobTemplates', {
  name: 'JobTemplate',
  description: 'A playbook that can be run, with its settings.',
  select: { columns: { id: true } },
  id: { column: (template) => template.id },
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name, unique in the tenant.' }),
    displayName: t.exposeString('displayName', { description: 'Display name.' }),
    description: t.exposeString('description', { description: 'What the template does.' }),
    category: t.exposeString('category', { description: 'Category under which the template is listed.' }),
    tags: t.exposeStringList('tags', { description: 'Tags of the template. At most 50.' }),
    isSystem: t.exposeBoolean('isSystem', { description: 'Whether the template is shipped with Muster.' }),
    settings: t.field({
      type: JobTemplateSettings,
      description: 'Settings.',
      select: { columns: SETTINGS_COLUMNS },
      resolve: (template) => template,
    }),
    version: t.exposeInt('version', { description: 'Current version. Each change increments it.' }),
    versions: t.relatedConnection(
      'versions',
      { description: 'Versions, newest first.', query: { orderBy: { version: 'desc' } }, totalCount: true, ...PAGED },
      ...versionConnection,
    ),
    archivedAt: t.expose('archivedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the template was archived; null when it is available.',
    }),
    updateBlockedReason: t.string({
      nullable: true,
      description: 'Why the caller cannot change or archive the template; null when allowed.',
      select: { columns: { name: true, isSystem: true, archivedAt: true } },
      resolve: (template, _args, { ctx }) => editTemplateBlockedReason(ctx.actor, template),
    }),
  }),
})

export const templateConnection = connectionTypes(JobTemplate, 'JobTemplate', 'job templates')
