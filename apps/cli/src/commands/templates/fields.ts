import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { InvalidArgumentError } from 'commander'
import { request } from '../../client.ts'
import type { Command } from '../../command.ts'
import { CliError, EXIT, orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { optionalCredentialId } from '../../lookup.ts'
import { allowEmpty, commaList, emptyToNull, integer, omitUndefined, oneOf, percentage } from '../../options.ts'
import { addVars } from '../runs/run.ts'

export type FieldOptions = {
  displayName?: string
  description?: string
  category?: string
  labels?: string[]
  playbook?: string
  bundle?: string
  git?: string
  ref?: string
  gitCredential?: string
  shipped?: true
  become?: boolean
  becomeMethod?: 'SUDO' | 'SU'
  becomeUser?: string
  forks?: number
  timeout?: number
  serial?: string
  maxFailPercentage?: number | ''
  tags?: string[]
  skipTags?: string[]
  schema?: Record<string, unknown>
  defaultVars?: Record<string, unknown>
  idempotent?: boolean
  readOnly?: boolean
  reason?: string
}

/** Options for the fields of a template. */
export const withFields = (command: Command): Command =>
  command
    .option('--display-name <name>', 'display name')
    .option('--description <text>', 'description')
    .option('--category <word>', 'category')
    .option('--labels <labels>', "labels for search, separated by commas; '' clears them", commaList)
    .option('--playbook <path>', 'playbook path, relative to the root of the source')
    .option('--bundle <file>', 'upload a tar.gz or zip as the source')
    .option('--git <url>', 'git repository as the source, https:// or ssh://')
    .option('--ref <ref>', 'branch, tag or commit, resolved when a run starts')
    .option('--git-credential <name>', "GIT credential for a private repository; '' clears it")
    .option('--shipped', 'playbook from the playbooks directory of the installation')
    .option('--become', 'run tasks as another user')
    .option('--no-become', 'run tasks as the login user')
    .option('--become-method <method>', 'SUDO or SU', oneOf('SUDO', 'SU'))
    .option('--become-user <user>', 'become user')
    .option('-f, --forks <n>', 'parallel hosts', integer)
    .option('--timeout <seconds>', 'cancel a run after this time', integer)
    .option('--serial <batches>', "batch sizes in Ansible's notation: 5, 30% or 1,5,30%; '' clears it")
    .option(
      '--max-fail-percentage <n>',
      "stop a run when more than this share of a batch failed, 0 to 100; '' clears it",
      allowEmpty(percentage),
    )
    .option('-t, --tags <tags>', 'only tasks with one of these tags, separated by commas', commaList)
    .option('--skip-tags <tags>', 'skip tasks with one of these tags', commaList)
    .option('--schema <file>', 'JSON Schema of the extra vars, YAML or JSON', schemaOf)
    .option('-e, --default-vars <vars>', 'default extra vars: key=value, YAML, JSON or @FILE', addVars)
    .option('--idempotent', 'restart a run automatically when its worker is lost')
    .option('--no-idempotent', 'never restart a run automatically')
    .option('--read-only', 'the template changes nothing on nodes; its runs take no locks')
    .option('--no-read-only', 'it changes nodes; one run at a time per node')
    .option('--reason <text>', 'reason, kept with the version')

const schemaOf = (file: string) => addVars(`@${file}`)

/** Input fields of the API for the options. Uploads the bundle. */
export async function settings(options: FieldOptions) {
  const { bundle, git, ref, shipped } = options
  if ([bundle, git, shipped].filter(Boolean).length > 1)
    throw new InvalidArgumentError('Use only one of --bundle, --git and --shipped.')
  const repository = omitUndefined({ url: git, ref, credentialId: await optionalCredentialId(options.gitCredential) })
  return omitUndefined({
    displayName: options.displayName,
    description: options.description,
    category: options.category,
    tags: options.labels,
    reason: options.reason,
    settings: omitUndefined({
      playbookPath: options.playbook,
      source: bundle ? ('BUNDLE' as const) : git ? ('GIT' as const) : shipped ? ('SHIPPED' as const) : undefined,
      bundleId: bundle ? await upload(bundle) : undefined,
      git: Object.keys(repository).length > 0 ? repository : undefined,
      become: options.become,
      becomeMethod: options.becomeMethod,
      becomeUser: options.becomeUser,
      forks: options.forks,
      timeoutSeconds: options.timeout,
      serial: emptyToNull(options.serial),
      maxFailPercentage: emptyToNull(options.maxFailPercentage),
      jobTags: options.tags,
      skipTags: options.skipTags,
      inputSchema: options.schema,
      defaultVars: options.defaultVars,
      isIdempotent: options.idempotent,
      isReadOnly: options.readOnly,
    }),
  })
}

async function upload(file: string): Promise<string> {
  let content: string
  try {
    content = readFileSync(file).toString('base64')
  } catch (error) {
    throw new CliError(`Cannot read ${file}: ${(error as NodeJS.ErrnoException).code}`, EXIT.usage)
  }
  const { uploadPlaybookBundle } = await request(
    graphql(`mutation UploadBundle($name: String!, $content: String!) {
      uploadPlaybookBundle(input: { name: $name, content: $content }) {
        __typename ... on UploadPlaybookBundlePayload { bundle { id } } ... on Error { code message } ... on InvalidInputError { issues { path message } }
      }
    }`),
    { name: basename(file), content },
  )
  return orThrow(uploadPlaybookBundle).bundle.id
}

export const SETTINGS = graphql(`fragment Settings on JobTemplateSettings @_unmask {
  source playbookPath bundle { name sha256 } git { url ref credential { name } } become becomeMethod becomeUser timeoutSeconds forks serial
  maxFailPercentage jobTags skipTags defaultVars inputSchema isIdempotent isReadOnly
}`)

const BY_NAME = graphql(
  `query TemplateByName($name: String!) {
    jobTemplate(name: $name) {
      id name displayName description category tags isSystem version archivedAt settings { ...Settings }
    }
  }`,
  [SETTINGS],
)

/** The template with this name. @throws CliError when it does not exist */
export async function findTemplate(name: string) {
  const { jobTemplate } = await request(BY_NAME, { name })
  if (!jobTemplate) throw new CliError(`No job template named ${name}. See \`muster template list\`.`, EXIT.notFound)
  return jobTemplate
}
