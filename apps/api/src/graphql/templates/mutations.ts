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
import { builder, type SchemaShape } from '../../builder.ts'
import { BecomeMethod } from '../credentials/enums.ts'
import { Deleted } from '../shared/deleted.ts'
import { COMMON } from '../shared/errors.ts'
import { given, rowId, rowIdIfGiven } from '../shared/ids.ts'
import { PlaybookSource } from './enums.ts'
import { JobTemplate, PlaybookBundle } from './types.ts'

type Fields = PothosSchemaTypes.InputFieldBuilder<PothosSchemaTypes.ExtendDefaultTypes<SchemaShape>, 'InputObject'>

/** What can be set of a template, the same when it is made and when it is changed. */
const settings = (t: Fields) => ({
  displayName: t.string({ description: 'A name for people.' }),
  description: t.string({ description: 'What it does.' }),
  category: t.string({ description: 'Where it is listed.' }),
  source: t.field({ type: PlaybookSource, description: 'Where its playbook comes from; left out: SHIPPED.' }),
  bundleId: t.id({ description: 'BUNDLE only: which, see `uploadPlaybookBundle`.' }),
  gitUrl: t.string({ description: 'GIT only: the repository, https://… or ssh://…, without a password in it.' }),
  gitRef: t.string({ description: 'GIT only: branch, tag or commit.' }),
  gitCredentialId: t.id({ description: 'GIT only: a credential of that kind for its server; left out: anybody can read it.' }),
  become: t.boolean({ description: 'Whether its tasks run as another user.' }),
  becomeMethod: t.field({ type: BecomeMethod, description: 'How they become that user; left out: SUDO.' }),
  becomeUser: t.string({ description: 'The user they become; left out: root.' }),
  timeoutSeconds: t.int({ description: 'A run that takes longer is stopped, in s; left out: 3600.' }),
  forks: t.int({ description: 'How many hosts are worked on at once, 1 to 500; left out: 20.' }),
  serial: t.string({ description: 'Hosts at a time: `5`, `30%`, `1,5,30%`; null: what the playbook says.' }),
  maxFailPercentage: t.int({ description: 'The play ends when more than this share of the hosts has failed, in %.' }),
  jobTags: t.stringList({ description: 'Run only tasks with one of these tags.' }),
  skipTags: t.stringList({ description: 'Leave out tasks with one of these tags.' }),
  inputSchema: t.field({
    type: 'JSON',
    description:
      'JSON Schema (draft 2020-12, without $ref) of an object: the extra vars that runs must fit. See `JobTemplate.inputSchema`.',
  }),
  defaultVars: t.field({ type: 'JSON', description: 'Extra vars that a run has unless it sets them otherwise, an object.' }),
  tags: t.stringList({ description: 'Words to find it by.' }),
  isIdempotent: t.boolean({ description: 'Whether a run whose worker died may be started again by itself.' }),
  isReadOnly: t.boolean({ description: 'Whether it changes nothing on nodes, so that its runs need not wait for others there.' }),
  reason: t.string({ description: 'Why, kept with the version.' }),
})

const CreateJobTemplateInput = builder.inputType('CreateJobTemplateInput', {
  description: 'A template to make.',
  fields: (t) => ({
    name: t.string({ required: true, description: 'Its name, unique in the tenant.' }),
    playbookPath: t.string({ required: true, description: 'Its playbook, relative to the root of its source.' }),
    ...settings(t),
  }),
})

const UpdateJobTemplateInput = builder.inputType('UpdateJobTemplateInput', {
  description: 'What to change of a template; what is left out stays.',
  fields: (t) => ({
    id: t.id({ required: true, description: 'Which template.' }),
    version: t.int({ description: 'The version that you looked at: refused when it has been changed since.' }),
    name: t.string({ description: 'Its name, unique in the tenant.' }),
    playbookPath: t.string({ description: 'Its playbook, relative to the root of its source.' }),
    ...settings(t),
  }),
})

type Input = {
  bundleId?: string | null | undefined
  gitCredentialId?: string | null | undefined
  inputSchema?: unknown
  defaultVars?: unknown
}

/** As the verbs take it. Null is the same as leaving out, but for what can be without a value. */
const settingsGiven = <T extends Input>(input: T) => ({
  ...given(input),
  bundleId: rowIdIfGiven('PlaybookBundle', input.bundleId),
  gitCredentialId: rowIdIfGiven('Credential', input.gitCredentialId),
  // Whether they are objects is for the verb to say.
  inputSchema: input.inputSchema as Vars | null | undefined,
  defaultVars: (input.defaultVars ?? undefined) as Vars | undefined,
})

const CLEARABLE = ['gitUrl', 'gitRef', 'serial', 'maxFailPercentage'] as const

const cleared = (input: typeof UpdateJobTemplateInput.$inferInput): Partial<Record<(typeof CLEARABLE)[number], null>> =>
  Object.fromEntries(CLEARABLE.filter((name) => input[name] === null).map((name) => [name, null]))

builder.mutationFields((t) => ({
  createJobTemplate: t.field({
    type: JobTemplate,
    description: 'Make a template.',
    authScopes: { authenticated: true },
    errors: { types: [...COMMON, Conflict, NotFound] },
    args: { input: t.arg({ type: CreateJobTemplateInput, required: true, description: 'What it is to be.' }) },
    resolve: (_root, { input }, { ctx }) => createJobTemplate(ctx, settingsGiven(input)),
  }),
  updateJobTemplate: t.field({
    type: JobTemplate,
    description: 'Change a template. What it was before stays in its versions; runs that were started keep what they have.',
    authScopes: { authenticated: true },
    errors: { types: [...COMMON, Conflict, NotFound] },
    args: { input: t.arg({ type: UpdateJobTemplateInput, required: true, description: 'What to change.' }) },
    resolve: (_root, { input }, { ctx }) =>
      updateJobTemplate(ctx, { ...settingsGiven(input), ...cleared(input), id: rowId('JobTemplate', input.id) }),
  }),
  archiveJobTemplate: t.field({
    type: JobTemplate,
    description: 'Take a template out of use. Its runs, its versions and its name stay until it is restored.',
    authScopes: { authenticated: true },
    errors: { types: [...COMMON, Conflict, NotFound] },
    args: {
      id: t.arg.id({ required: true, description: 'Which template.' }),
      reason: t.arg.string({ description: 'Why.' }),
    },
    resolve: (_root, { id, reason }, { ctx }) => archiveJobTemplate(ctx, { id: rowId('JobTemplate', id), reason }),
  }),
  restoreJobTemplate: t.field({
    type: JobTemplate,
    description: 'Bring a template back out of the archive, and with `version` to what it was then.',
    authScopes: { authenticated: true },
    errors: { types: [...COMMON, Conflict, NotFound] },
    args: {
      id: t.arg.id({ required: true, description: 'Which template.' }),
      version: t.arg.int({ description: 'To be again what it was at this version; left out: as it is.' }),
      reason: t.arg.string({ description: 'Why.' }),
    },
    resolve: (_root, { id, ...input }, { ctx }) => restoreJobTemplate(ctx, { id: rowId('JobTemplate', id), ...input }),
  }),
  deletePlaybookBundle: t.field({
    type: Deleted,
    description: 'Delete a playbook bundle that no version of a template and no run needs.',
    authScopes: { authenticated: true },
    errors: { types: [...COMMON, Conflict, NotFound] },
    args: { id: t.arg.id({ required: true, description: 'Which bundle.' }) },
    resolve: async (_root, { id }, { ctx }) => {
      await deletePlaybookBundle(ctx, { id: rowId('PlaybookBundle', id) })
      return { id }
    },
  }),
  uploadPlaybookBundle: t.field({
    type: PlaybookBundle,
    description:
      'Upload playbooks for templates to use: a tar.gz or zip of at most 10 MiB, without links. The same content gives the same bundle.',
    authScopes: { authenticated: true },
    errors: { types: [...COMMON] },
    args: {
      name: t.arg.string({ required: true, description: "The file's name." }),
      content: t.arg.string({ required: true, description: 'The archive in base64.' }),
    },
    resolve: (_root, { name, content }, { ctx }) => uploadPlaybookBundle(ctx, { name, content: bytesOf(content) }),
  }),
}))

function bytesOf(base64: string): Uint8Array {
  if (!/^[A-Za-z0-9+/\s]*={0,2}\s*$/.test(base64)) throw new InvalidInput([{ path: 'content', message: 'must be base64' }])
  return Buffer.from(base64, 'base64')
}
