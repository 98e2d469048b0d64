import { readFileSync } from 'node:fs'
import { basename } from 'node:path'
import { type Command, InvalidArgumentError } from 'commander'
import { request } from '../../client.ts'
import { CliError, EXIT, orThrow } from '../../errors.ts'
import { graphql } from '../../graphql.ts'
import { credentialIdIfGiven } from '../../ids.ts'
import { given, integer, oneOf, orEmpty, orNull, percentage, words } from '../../options.ts'
import { addVars } from '../run.ts'

export type FieldOptions = {
  displayName?: string
  description?: string
  category?: string
  words?: string[]
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

/** The options with which a template is made and changed. */
export const withFields = (command: Command): Command =>
  command
    .option('--display-name <name>', 'a name for people')
    .option('--description <text>', 'what it does')
    .option('--category <word>', 'where it is listed')
    .option('--words <words>', "words to find it by, parted by commas; '' for none", words)
    .option('--playbook <path>', 'its playbook, from the root of its source')
    .option('--bundle <file>', 'upload this tar.gz or zip and take the playbook from it')
    .option('--git <url>', 'take the playbook from this repository, https:// or ssh://')
    .option('--ref <ref>', 'branch, tag or commit; each run uses the commit that it names then')
    .option('--git-credential <name>', "credential of the kind GIT for a private repository; '' takes it away")
    .option('--shipped', 'take the playbook from the playbooks directory of the product')
    .option('--become', 'its tasks become another user')
    .option('--no-become', 'its tasks stay the login user')
    .option('--become-method <method>', 'SUDO or SU', oneOf('SUDO', 'SU'))
    .option('--become-user <user>', 'the user they become')
    .option('-f, --forks <n>', 'hosts at a time', integer)
    .option('--timeout <seconds>', 'end a run after so many seconds', integer)
    .option('--serial <batches>', "hosts at a time, as Ansible takes it: 5, 30%, or 1,5,30%; '' takes it away")
    .option(
      '--max-fail-percentage <n>',
      "end a run when more than this share of a batch has failed, 0 to 100; '' takes it away",
      orEmpty(percentage),
    )
    .option('-t, --tags <tags>', 'only tasks with one of these tags, parted by commas', words)
    .option('--skip-tags <tags>', 'no tasks with one of these tags', words)
    .option('--schema <file>', 'JSON Schema of the extra vars, in YAML or JSON', schemaOf)
    .option('-e, --default-vars <vars>', 'extra vars that runs have: key=value, YAML or JSON text, or @FILE', addVars)
    .option('--idempotent', 'a run whose worker died may be started again by itself')
    .option('--no-idempotent', 'only people start it again')
    .option('--read-only', 'it changes nothing on nodes, and its runs wait for no others there')
    .option('--no-read-only', 'it changes nodes, one run at a time on each')
    .option('--reason <text>', 'why; kept with the version')

const schemaOf = (file: string) => addVars(`@${file}`)

/** What of the options goes into the input of a mutation; uploads the bundle, if one is given. */
export async function settings(options: FieldOptions) {
  const { bundle, git, ref, shipped } = options
  if ([bundle, git, shipped].filter(Boolean).length > 1)
    throw new InvalidArgumentError('Give one of --bundle, --git and --shipped.')
  return given({
    displayName: options.displayName,
    description: options.description,
    category: options.category,
    tags: options.words,
    playbookPath: options.playbook,
    source: bundle ? ('BUNDLE' as const) : git ? ('GIT' as const) : shipped ? ('SHIPPED' as const) : undefined,
    bundleId: bundle ? await upload(bundle) : undefined,
    gitUrl: git,
    gitRef: ref,
    gitCredentialId: await credentialIdIfGiven(options.gitCredential),
    become: options.become,
    becomeMethod: options.becomeMethod,
    becomeUser: options.becomeUser,
    forks: options.forks,
    timeoutSeconds: options.timeout,
    serial: orNull(options.serial),
    maxFailPercentage: orNull(options.maxFailPercentage),
    jobTags: options.tags,
    skipTags: options.skipTags,
    inputSchema: options.schema,
    defaultVars: options.defaultVars,
    isIdempotent: options.idempotent,
    isReadOnly: options.readOnly,
    reason: options.reason,
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
      uploadPlaybookBundle(name: $name, content: $content) {
        __typename ... on PlaybookBundle { id } ... on Error { code message } ... on InvalidInputError { issues { path message } }
      }
    }`),
    { name: basename(file), content },
  )
  return orThrow(uploadPlaybookBundle).id
}

/** The template with this name. @throws CliError when there is none */
export async function findTemplate(name: string) {
  const { jobTemplate } = await request(
    graphql(`query TemplateByName($name: String!) {
      jobTemplate(name: $name) {
        id name displayName description category source playbookPath bundle { name sha256 } gitUrl gitRef gitCredential { name } become becomeMethod becomeUser
        timeoutSeconds forks serial maxFailPercentage jobTags skipTags defaultVars inputSchema tags isSystem isIdempotent isReadOnly
        version archivedAt
        versions { version reason createdByName createdAt settings }
      }
    }`),
    { name },
  )
  if (!jobTemplate) throw new CliError(`There is no job template ${name}. See \`muster template list\`.`, EXIT.notFound)
  return jobTemplate
}
