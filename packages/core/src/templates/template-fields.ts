import { z } from 'zod'
import type { InputIssue } from '../kernel/errors.ts'
import { Id, multilineText, singleLineText } from '../kernel/input.ts'
import { extraVarIssues } from './extra-vars.ts'
import { inputSchemaIssues, secretNames } from './input-schema.ts'
import { JobTags, Serial } from './serial.ts'
import { pathEscapeReason } from './sources/path-inside.ts'
import { PLAYBOOK_SOURCES, type TemplateSnapshot } from './tables.ts'

export const MAX_RUN_SECONDS = 23 * 3600

export const PlaybookPath = z.string().superRefine((path, issues) => {
  const message = pathEscapeReason(path) ?? (/[^/]\.ya?ml$/.test(path) ? null : 'must end in .yml or .yaml')
  if (message) issues.addIssue({ code: 'custom', message })
})

/**
 * Only https and ssh are allowed: both authenticate the server, and neither reads local files of the worker. The strict syntax
 * makes git, ssh, curl and Muster agree on the host, because a login is sent to that host.
 */
const GIT_URL = /^(?:https|ssh):\/\/(?:[\w.~%+][\w.~%+-]*@)?(?:\w[\w.-]*|\[[\dA-Fa-f:.]+\])(?::\d{1,5})?\/\S+$/
export const GitUrl = singleLineText(500).refine(
  (url) => GIT_URL.test(url) && URL.canParse(url),
  'must look like https://host/path or ssh://user@host/path, without a password in it',
)
/** Accepts what `git check-ref-format` does, except syntax that has another meaning for git fetch. */
export const GitRef = singleLineText(200).refine(
  (ref) => /^[A-Za-z0-9_][A-Za-z0-9_./+-]*$/.test(ref) && !/\.\.|\/\/|\/$|\.lock$|\.$/.test(ref),
  'must be the name of a branch or tag, or a commit',
)

/** All fields of a template that users can set. */
export const TEMPLATE_FIELDS = {
  name: z
    .string()
    .regex(
      /^[A-Za-z0-9][A-Za-z0-9_.-]{0,99}$/,
      'must have at most 100 letters, digits, _, . and -, and begin with a letter or digit',
    ),
  displayName: singleLineText(128),
  description: multilineText(4000),
  category: singleLineText(64),
  source: z.enum(PLAYBOOK_SOURCES),
  bundleId: Id.nullable(),
  gitUrl: GitUrl.nullable(),
  gitRef: GitRef.nullable(),
  gitCredentialId: Id.nullable(),
  playbookPath: PlaybookPath,
  become: z.boolean(),
  becomeMethod: z.enum(['sudo', 'su']),
  becomeUser: z.string().regex(/^[A-Za-z_][A-Za-z0-9_.-]{0,31}\$?$/, 'must be the name of a user'),
  timeoutSeconds: z.int().min(1).max(MAX_RUN_SECONDS),
  forks: z.int().min(1).max(500),
  serial: Serial.nullable(),
  maxFailPercentage: z.int().min(0).max(100).nullable(),
  jobTags: JobTags,
  skipTags: JobTags,
  inputSchema: z.record(z.string(), z.unknown()).nullable(),
  defaultVars: z.record(z.string(), z.unknown()),
  tags: z.array(singleLineText(50)).max(50, 'at most 50'),
  isIdempotent: z.boolean(),
  isReadOnly: z.boolean(),
} satisfies Record<keyof TemplateSnapshot, z.ZodType>

/** Why a template was changed. */
export const Reason = multilineText(1000).nullish()

/** Clears the fields of other sources, so that callers change the source with one field. */
export function withoutOtherSources<
  T extends Pick<TemplateSnapshot, 'source' | 'bundleId' | 'gitUrl' | 'gitRef' | 'gitCredentialId'>,
>(template: T): T {
  const { source, bundleId, gitUrl, gitRef, gitCredentialId } = template
  const git = source === 'git' ? { gitUrl, gitRef, gitCredentialId } : { gitUrl: null, gitRef: null, gitCredentialId: null }
  return { ...template, ...git, bundleId: source === 'bundle' ? bundleId : null }
}

/** Returns contradictions between fields; empty when there are none. */
export function templateIssues(template: TemplateSnapshot): InputIssue[] {
  const { source, bundleId, gitUrl, gitRef, inputSchema, defaultVars } = template
  const missing = (path: string, value: unknown) => (value ? [] : [{ path, message: `is required for the source ${source}` }])
  const secrets = secretNames(inputSchema).filter((name) => name in defaultVars)
  return [
    ...(source === 'bundle' ? missing('bundleId', bundleId) : []),
    ...(source === 'git' ? [...missing('gitUrl', gitUrl), ...missing('gitRef', gitRef)] : []),
    ...extraVarIssues(defaultVars).map(at('defaultVars')),
    ...(inputSchema ? inputSchemaIssues(inputSchema).map(at('inputSchema')) : []),
    ...secrets.map((name) => ({
      path: `defaultVars.${name}`,
      message: 'is secret; default variables are visible to everyone and cannot contain it',
    })),
  ]
}

const at = (root: string) => (issue: InputIssue) => ({ ...issue, path: issue.path === '' ? root : `${root}.${issue.path}` })
