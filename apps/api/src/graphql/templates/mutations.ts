import { Conflict, InvalidInput, NotFound } from '@muster/core/errors'
import {
  archiveJobTemplate,
  createJobTemplate,
  deletePlaybookBundle,
  restoreJobTemplate,
  updateJobTemplate,
  uploadPlaybookBundle,
  type Vars,
} from '@muster/core/templates'
import { builder } from '../../builder.ts'
import { BecomeMethod } from '../credentials/enums.ts'
import { given, rowId, rowIdIfGiven } from '../shared/ids.ts'
import { deletedPayload, type InputFields, mutation } from '../shared/mutation.ts'
import { PlaybookSource } from './enums.ts'
import { JobTemplate, PlaybookBundle } from './types.ts'

const ID = 'Template ID.'
const NAME = 'Name, unique in the tenant.'
const REASON = 'Why the template is changed. The version records it.'
const payload = { template: { type: JobTemplate, description: 'The template.' } }

const JobTemplateGitSourceInput = builder.inputType('JobTemplateGitSourceInput', {
  description: 'A git repository with playbooks.',
  fields: (t) => ({
    url: t.string({ description: 'URL of the repository, https://… or ssh://…, without a password.' }),
    ref: t.string({ description: 'Branch, tag or commit.' }),
    credentialId: t.id({ description: 'Git credential for the server; null for public repositories.' }),
  }),
})

const JobTemplateSettingsInput = builder.inputType('JobTemplateSettingsInput', {
  description: 'Settings of a job template. Omitted fields have their default, or keep their value in an update.',
  fields: (t) => ({
    source: t.field({
      type: PlaybookSource,
      description: 'Where the playbook comes from. In a new template by default: SHIPPED.',
    }),
    playbookPath: t.string({
      description: 'Path of the playbook, relative to the root of its source. Required for a new template.',
    }),
    bundleId: t.id({ description: 'BUNDLE only: ID of the bundle, see `uploadPlaybookBundle`.' }),
    git: t.field({ type: JobTemplateGitSourceInput, description: 'GIT only: the repository.' }),
    become: t.boolean({ description: 'Whether tasks run as another user.' }),
    becomeMethod: t.field({
      type: BecomeMethod,
      description: 'Privilege escalation method. In a new template by default: SUDO.',
    }),
    becomeUser: t.string({ description: 'User that tasks run as. In a new template by default: root.' }),
    timeoutSeconds: t.int({ description: 'Timeout of a run in seconds. In a new template by default: 3600.' }),
    forks: t.int({ description: 'Number of hosts to work on at once, 1 to 500. In a new template by default: 20.' }),
    serial: t.string({ description: 'Batch size of hosts: `5`, `30%` or `1,5,30%`; null: as set in the playbook.' }),
    maxFailPercentage: t.int({
      description:
        'The play is aborted when more than this percentage of the hosts of a batch failed; null: as set in the playbook.',
    }),
    jobTags: t.stringList({ description: 'Runs only tasks with one of these tags. At most 50.' }),
    skipTags: t.stringList({ description: 'Skips tasks with one of these tags. At most 50.' }),
    inputSchema: t.field({
      type: 'JSON',
      description:
        'JSON Schema (draft 2020-12, without $ref) of an object that the extra vars of runs must match; see `JobTemplateSettings.inputSchema`.',
    }),
    defaultVars: t.field({ type: 'JSON', description: 'Extra vars that runs have unless they set them: an object.' }),
    isIdempotent: t.boolean({ description: 'Whether a run is restarted automatically when its worker is lost.' }),
    isReadOnly: t.boolean({
      description: 'Whether runs change nothing on nodes, so that they neither lock nodes nor wait for locks.',
    }),
  }),
})

const fields = (t: InputFields) => ({
  displayName: t.string({ description: 'Display name.' }),
  description: t.string({ description: 'What the template does.' }),
  category: t.string({ description: 'Category under which the template is listed.' }),
  tags: t.stringList({ description: 'Tags of the template. At most 50.' }),
  settings: t.field({ type: JobTemplateSettingsInput, description: 'Settings.' }),
  reason: t.string({ description: REASON }),
})

type Settings = typeof JobTemplateSettingsInput.$inferInput

const CLEARABLE = ['serial', 'maxFailPercentage'] as const

/** The settings as the verbs take them. Null means the same as omitted, except for fields that null clears. */
function settingsOf(settings: Settings | null | undefined) {
  const { git, bundleId, inputSchema, defaultVars, playbookPath, ...others } = settings ?? {}
  const cleared = Object.fromEntries(CLEARABLE.filter((name) => others[name] === null).map((name) => [name, null]))
  return {
    ...given(others),
    ...(cleared as Partial<Record<(typeof CLEARABLE)[number], null>>),
    ...(git === null ? { gitUrl: null, gitRef: null, gitCredentialId: null } : {}),
    ...(git?.url === undefined ? {} : { gitUrl: git.url }),
    ...(git?.ref === undefined ? {} : { gitRef: git.ref }),
    ...(git?.credentialId === undefined ? {} : { gitCredentialId: rowIdIfGiven('Credential', git.credentialId) }),
    playbookPath: playbookPath ?? undefined,
    bundleId: rowIdIfGiven('PlaybookBundle', bundleId),
    // The verb checks that they are objects.
    inputSchema: inputSchema as Vars | null | undefined,
    defaultVars: (defaultVars ?? undefined) as Vars | undefined,
  }
}

const PATHS: Record<string, string> = { gitUrl: 'git.url', gitRef: 'git.ref', gitCredentialId: 'git.credentialId' }
const OUTER = new Set(['id', 'version', 'name', 'displayName', 'description', 'category', 'tags', 'reason', 'idempotencyKey'])

/** Issues of settings with their paths in the input. */
async function withPaths<T>(work: Promise<T>): Promise<T> {
  try {
    return await work
  } catch (error) {
    if (!(error instanceof InvalidInput)) throw error
    throw new InvalidInput(
      error.issues.map(({ path, message }) => {
        const [first = '', ...rest] = path.split('.')
        return { path: OUTER.has(first) ? path : ['settings', PATHS[first] ?? first, ...rest].join('.'), message }
      }),
    )
  }
}

mutation('createJobTemplate', {
  description: 'Creates a job template.',
  input: (t) => ({
    name: t.string({ required: true, description: NAME }),
    ...fields(t),
  }),
  payload,
  errors: [Conflict, NotFound],
  idempotent: true,
  resolve: async ({ settings, ...input }, { ctx }) => ({
    template: await withPaths(
      createJobTemplate(ctx, { ...given(input), ...settingsOf(settings), playbookPath: settings?.playbookPath ?? '' }),
    ),
  }),
})

mutation('updateJobTemplate', {
  description:
    'Changes a job template. Omitted fields keep their values. The previous settings remain in its versions; started runs keep theirs.',
  input: (t) => ({
    id: t.id({ required: true, description: ID }),
    version: t.int({
      description: 'Version that was edited. The change fails with a conflict when the template has changed since.',
    }),
    name: t.string({ description: NAME }),
    ...fields(t),
  }),
  payload,
  errors: [Conflict, NotFound],
  resolve: async ({ id, settings, ...input }, { ctx }) => ({
    template: await withPaths(updateJobTemplate(ctx, { ...given(input), ...settingsOf(settings), id: rowId('JobTemplate', id) })),
  }),
})

mutation('archiveJobTemplate', {
  description: 'Archives a job template: it cannot be run until it is restored. Its runs, versions and name are kept.',
  input: (t) => ({ id: t.id({ required: true, description: ID }), reason: t.string({ description: REASON }) }),
  payload,
  errors: [Conflict, NotFound],
  resolve: async ({ id, reason }, { ctx }) => ({
    template: await archiveJobTemplate(ctx, { id: rowId('JobTemplate', id), reason }),
  }),
})

mutation('restoreJobTemplate', {
  description: 'Restores an archived job template; with `version`, restores the settings of an earlier version.',
  input: (t) => ({
    id: t.id({ required: true, description: ID }),
    version: t.int({ description: 'Version to restore. Default: the current settings.' }),
    reason: t.string({ description: REASON }),
  }),
  payload,
  errors: [Conflict, NotFound],
  resolve: async ({ id, ...input }, { ctx }) => ({
    template: await restoreJobTemplate(ctx, { id: rowId('JobTemplate', id), ...input }),
  }),
})

mutation('uploadPlaybookBundle', {
  description:
    'Uploads playbooks for templates: a tar.gz or zip archive of at most 10 MiB without links. The same content returns the same bundle.',
  input: (t) => ({
    name: t.string({ required: true, description: 'File name.' }),
    content: t.string({ required: true, description: 'The archive, encoded in base64.' }),
  }),
  idempotent: true,
  payload: { bundle: { type: PlaybookBundle, description: 'The bundle.' } },
  resolve: async ({ content, ...input }, { ctx }) => ({
    bundle: await uploadPlaybookBundle(ctx, { ...input, content: bytesOf(content) }),
  }),
})

mutation('deletePlaybookBundle', {
  description: 'Deletes a playbook bundle that no template version and no run uses.',
  input: (t) => ({ id: t.id({ required: true, description: 'Bundle ID.' }) }),
  payload: deletedPayload,
  errors: [Conflict, NotFound],
  resolve: async ({ id }, { ctx }) => {
    await deletePlaybookBundle(ctx, { id: rowId('PlaybookBundle', id) })
    return { deletedId: id }
  },
})

function bytesOf(base64: string): Uint8Array {
  if (!/^[A-Za-z0-9+/\s]*={0,2}\s*$/.test(base64)) throw new InvalidInput([{ path: 'content', message: 'must be base64' }])
  return Buffer.from(base64, 'base64')
}
