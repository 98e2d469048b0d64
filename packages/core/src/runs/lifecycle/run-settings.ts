import { and, eq } from 'drizzle-orm'
import { v7 as uuidv7 } from 'uuid'
import type { Ctx } from '../../kernel/context.ts'
import { visibleTo } from '../../kernel/db/rows.ts'
import { Conflict, InvalidInput, NotFound } from '../../kernel/errors.ts'
import { fillIn, mayReboot, secretNames } from '../../templates/index.ts'
import { type JobTemplate, jobTemplates, type Vars } from '../../templates/tables.ts'
import type { JobRun, runSecrets } from '../tables.ts'

const SHORTEST_SECRET = 4

/** Finds a template by name. @throws NotFound; Conflict when it is archived */
export async function templateNamed(ctx: Ctx, name: string): Promise<JobTemplate> {
  const [template] = await ctx.db
    .select()
    .from(jobTemplates)
    .where(and(visibleTo(ctx, jobTemplates), eq(jobTemplates.name, name)))
  if (!template) throw new NotFound(`There is no job template ${name}. See the list of job templates for its name.`)
  if (template.archivedAt) throw new Conflict(`The job template ${name} is archived; restore it first.`)
  return template
}

type Setting = 'become' | 'timeoutSeconds' | 'forks' | 'serial' | 'maxFailPercentage' | 'jobTags' | 'skipTags'
type SettingsInput = { [K in Setting]?: JobTemplate[K] | null | undefined } & {
  checkMode?: boolean | null | undefined
  diffMode?: boolean | null | undefined
  verbosity?: number | null | undefined
  includeOffline?: boolean | null | undefined
}

/**
 * The settings of a run: the caller's input, else the template's. Copied, so that a later edit does not change the run.
 * @param extraVars from `varsOf`
 */
export const settingsOf = (template: JobTemplate, given: SettingsInput, extraVars: Vars) => ({
  templateId: template.id,
  templateName: template.name,
  templateVersion: template.version,
  source: template.source,
  bundleId: template.bundleId,
  gitUrl: template.gitUrl,
  gitRef: template.gitRef,
  gitCredentialId: template.gitCredentialId,
  playbookPath: template.playbookPath,
  becomeMethod: template.becomeMethod,
  becomeUser: template.becomeUser,
  isIdempotent: template.isIdempotent,
  become: given.become ?? template.become,
  timeoutSeconds: given.timeoutSeconds ?? template.timeoutSeconds,
  forks: given.forks ?? template.forks,
  serial: given.serial ?? template.serial,
  maxFailPercentage: given.maxFailPercentage ?? template.maxFailPercentage,
  jobTags: given.jobTags ?? template.jobTags,
  skipTags: given.skipTags ?? template.skipTags,
  checkMode: given.checkMode ?? false,
  diffMode: given.diffMode ?? false,
  isReadOnly: template.isReadOnly || (given.checkMode ?? false),
  includeOffline: given.includeOffline ?? false,
  setsMaintenance: !template.isReadOnly && !given.checkMode && mayReboot(template.inputSchema, extraVars),
  verbosity: given.verbosity ?? 0,
})

/**
 * Extra vars of a run, highest precedence first: the caller's, the template's, the defaults of its input schema. Returns
 * variables that the schema marks as secret separately.
 * @throws InvalidInput at `extraVars.<name>`
 */
export function varsOf(template: JobTemplate, given: Vars): { extraVars: Vars; secrets: Record<string, string> } {
  const extraVars = fillIn(template.inputSchema, { ...template.defaultVars, ...given })
  const secrets: Record<string, string> = {}
  for (const name of secretNames(template.inputSchema)) {
    const value = extraVars[name]
    delete extraVars[name]
    if (typeof value !== 'string') continue
    if (value.length < SHORTEST_SECRET)
      throw new InvalidInput([
        {
          path: `extraVars.${name}`,
          message: `must have at least ${SHORTEST_SECRET} characters; a shorter secret cannot be masked in logs`,
        },
      ])
    secrets[name] = value
  }
  return { extraVars, secrets }
}

/** The row of a run's encrypted secrets; null when it has none. Slow, so do not call it inside a transaction. */
export async function encryptRunSecrets(
  ctx: Ctx,
  template: JobTemplate,
  secrets: Record<string, string>,
): Promise<(typeof runSecrets.$inferInsert & { id: string }) | null> {
  if (Object.keys(secrets).length === 0) return null
  const place = { tenantId: ctx.tenantId, objectId: uuidv7() }
  const encrypted: Record<string, string> = {}
  for (const [field, text] of Object.entries(secrets)) encrypted[field] = await ctx.vault.encrypt({ ...place, field }, text)
  return { id: place.objectId, tenantId: ctx.tenantId, name: template.name, encrypted }
}

/** Everything that another run needs to repeat this one, including its secrets and the commit of its playbook. */
export const settingsOfRun = (run: JobRun) => ({
  templateId: run.templateId,
  templateName: run.templateName,
  templateVersion: run.templateVersion,
  source: run.source,
  bundleId: run.bundleId,
  gitUrl: run.gitUrl,
  gitRef: run.gitCommit ?? run.gitRef,
  gitCredentialId: run.gitCredentialId,
  playbookPath: run.playbookPath,
  become: run.become,
  becomeMethod: run.becomeMethod,
  becomeUser: run.becomeUser,
  timeoutSeconds: run.timeoutSeconds,
  forks: run.forks,
  serial: run.serial,
  maxFailPercentage: run.maxFailPercentage,
  jobTags: run.jobTags,
  skipTags: run.skipTags,
  checkMode: run.checkMode,
  diffMode: run.diffMode,
  isReadOnly: run.isReadOnly,
  isIdempotent: run.isIdempotent,
  includeOffline: run.includeOffline,
  setsMaintenance: run.setsMaintenance,
  verbosity: run.verbosity,
  extraVars: run.extraVars,
  secretsId: run.secretsId,
})
