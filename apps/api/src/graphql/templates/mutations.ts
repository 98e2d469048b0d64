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
import { BecomeMethod } from '../credentials/enums.ts'
import { given, rowId, rowIdIfGiven } from '../shared/ids.ts'
import { deletedPayload, type InputFields, mutation } from '../shared/mutation.ts'
import { PlaybookSource } from './enums.ts'
import { JobTemplate, PlaybookBundle } from './types.ts'

const ID = 'Template ID.'
const NAME = 'Name, unique in the tenant.'
const PLAYBOOK = 'Path of the playbook, relative to the root of its source.'
const REASON = 'Why the template is changed. The version records it.'
const payload = { template: { type: JobTemplate, description: 'The template.' } }

const settings = (t: InputFields) => ({
  displayName: t.string({ description: 'Display name.' }),
  description: t.string({ description: 'What the template does.' }),
  category: t.string({ description: 'Category under which the template is listed.' }),
  source: t.field({ type: PlaybookSource, description: 'Where the playbook comes from. Default: SHIPPED.' }),
  bundleId: t.id({ description: 'BUNDLE only: ID of the bundle, see `uploadPlaybookBundle`.' }),
  gitUrl: t.string({ description: 'GIT only: URL of the repository, https://… or ssh://…, without a password.' }),
  gitRef: t.string({ description: 'GIT only: branch, tag or commit.' }),
  gitCredentialId: t.id({ description: 'GIT only: git credential for the server. Default: none, for public repositories.' }),
  become: t.boolean({ description: 'Whether tasks run as another user.' }),
  becomeMethod: t.field({ type: BecomeMethod, description: 'How tasks become the other user. Default: SUDO.' }),
  becomeUser: t.string({ description: 'User that tasks run as. Default: root.' }),
  timeoutSeconds: t.int({ description: 'Runs that take longer are stopped, in seconds. Default: 3600.' }),
  forks: t.int({ description: 'Number of hosts to work on at once, 1 to 500. Default: 20.' }),
  serial: t.string({ description: 'Batch size of hosts: `5`, `30%` or `1,5,30%`; null: as set in the playbook.' }),
  maxFailPercentage: t.int({
    description:
      'The play is aborted when more than this percentage of the hosts of a batch failed; null: as set in the playbook.',
  }),
  jobTags: t.stringList({ description: 'Runs only tasks with one of these tags.' }),
  skipTags: t.stringList({ description: 'Skips tasks with one of these tags.' }),
  inputSchema: t.field({
    type: 'JSON',
    description:
      'JSON Schema (draft 2020-12, without $ref) of an object that the extra vars of runs must match; see `JobTemplate.inputSchema`.',
  }),
  defaultVars: t.field({ type: 'JSON', description: 'Extra vars that runs have unless they set them, an object.' }),
  tags: t.stringList({ description: 'Tags of the template.' }),
  isIdempotent: t.boolean({ description: 'Whether a run is restarted automatically when its worker is lost.' }),
  isReadOnly: t.boolean({
    description: 'Whether runs change nothing on nodes, so that they neither lock nodes nor wait for locks.',
  }),
  reason: t.string({ description: REASON }),
})

type Input = {
  bundleId?: string | null | undefined
  gitCredentialId?: string | null | undefined
  inputSchema?: unknown
  defaultVars?: unknown
}

/** The input as the verbs take it. Null means the same as omitted, except for clearable fields. */
const settingsGiven = <T extends Input>(input: T) => ({
  ...given(input),
  bundleId: rowIdIfGiven('PlaybookBundle', input.bundleId),
  gitCredentialId: rowIdIfGiven('Credential', input.gitCredentialId),
  // The verb checks that they are objects.
  inputSchema: input.inputSchema as Vars | null | undefined,
  defaultVars: (input.defaultVars ?? undefined) as Vars | undefined,
})

type Clearable = { [Name in (typeof CLEARABLE)[number]]?: unknown }

const CLEARABLE = ['gitUrl', 'gitRef', 'serial', 'maxFailPercentage'] as const

const cleared = (input: Clearable): Partial<Record<(typeof CLEARABLE)[number], null>> =>
  Object.fromEntries(CLEARABLE.filter((name) => input[name] === null).map((name) => [name, null]))

mutation('createJobTemplate', {
  description: 'Creates a job template.',
  input: (t) => ({
    name: t.string({ required: true, description: NAME }),
    playbookPath: t.string({ required: true, description: PLAYBOOK }),
    ...settings(t),
  }),
  payload,
  errors: [Conflict, NotFound],
  resolve: async (input, { ctx }) => ({ template: await createJobTemplate(ctx, settingsGiven(input)) }),
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
    playbookPath: t.string({ description: PLAYBOOK }),
    ...settings(t),
  }),
  payload,
  errors: [Conflict, NotFound],
  resolve: async (input, { ctx }) => ({
    template: await updateJobTemplate(ctx, { ...settingsGiven(input), ...cleared(input), id: rowId('JobTemplate', input.id) }),
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
  payload: { bundle: { type: PlaybookBundle, description: 'The bundle.' } },
  resolve: async ({ name, content }, { ctx }) => ({
    bundle: await uploadPlaybookBundle(ctx, { name, content: bytesOf(content) }),
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
