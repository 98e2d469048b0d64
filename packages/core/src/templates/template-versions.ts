import { and, eq } from 'drizzle-orm'
import { repositoryBlockedReason } from '../credentials/index.ts'
import { credentials } from '../credentials/tables.ts'
import { type Ctx, createdBy, type Tx } from '../kernel/context.ts'
import { sqlState, UNIQUE_VIOLATION, visibleTo } from '../kernel/db/rows.ts'
import { Conflict, type InputIssue, InvalidInput } from '../kernel/errors.ts'
import { type JobTemplate, jobTemplateVersions, playbookBundles, type TemplateSnapshot } from './tables.ts'
import { templateIssues } from './template-fields.ts'

/** All fields of a template that users can set. */
export function snapshotOf({
  id,
  tenantId,
  version,
  isSystem,
  archivedAt,
  createdAt,
  updatedAt,
  ...rest
}: JobTemplate): TemplateSnapshot {
  return rest
}

/** Stores the current state of templates as versions, with author and reason. */
export async function persistVersions(
  tx: Tx,
  ctx: Pick<Ctx, 'actor'>,
  templates: JobTemplate[],
  reason: string | null | undefined,
): Promise<void> {
  if (templates.length === 0) return
  await tx.insert(jobTemplateVersions).values(
    templates.map((template) => ({
      tenantId: template.tenantId,
      templateId: template.id,
      version: template.version,
      snapshot: snapshotOf(template),
      reason: reason ?? null,
      ...createdBy(ctx),
    })),
  )
}

/** @throws InvalidInput when fields contradict each other, or the bundle does not contain the playbook */
export async function checkTemplate(tx: Tx, ctx: Ctx, template: TemplateSnapshot): Promise<void> {
  const issues = [
    ...templateIssues(template),
    ...(await bundleIssues(tx, ctx, template)),
    ...(await gitCredentialIssues(tx, ctx, template)),
  ]
  if (issues.length > 0) throw new InvalidInput(issues)
}

async function bundleIssues(tx: Tx, ctx: Ctx, { bundleId, playbookPath }: TemplateSnapshot): Promise<InputIssue[]> {
  if (!bundleId) return []
  const [bundle] = await tx
    .select({ files: playbookBundles.files })
    .from(playbookBundles)
    .where(and(visibleTo(ctx, playbookBundles), eq(playbookBundles.id, bundleId)))
    // Blocks deletion of the bundle until the template refers to it.
    .for('key share')
  if (!bundle) return [{ path: 'bundleId', message: `there is no playbook bundle ${bundleId}; upload it first` }]
  const paths = bundle.files.map((file) => file.path)
  if (paths.includes(playbookPath)) return []
  const others = paths.filter((path) => /\.ya?ml$/.test(path) && !path.includes('roles/')).slice(0, 5)
  const hint = others.length > 0 ? `; it holds ${others.join(', ')}` : ''
  return [{ path: 'playbookPath', message: `is not in the bundle${hint}` }]
}

async function gitCredentialIssues(tx: Tx, ctx: Ctx, { gitUrl, gitCredentialId }: TemplateSnapshot): Promise<InputIssue[]> {
  if (!gitUrl || !gitCredentialId) return []
  const [credential] = await tx
    .select()
    .from(credentials)
    .where(and(visibleTo(ctx, credentials), eq(credentials.id, gitCredentialId)))
    .for('key share')
  const message = credential
    ? repositoryBlockedReason(credential, gitUrl)
    : `There is no credential ${gitCredentialId}; choose another one, or none.`
  return message ? [{ path: 'gitCredentialId', message }] : []
}

/** Use in `.catch` of a write that sets the name. */
export const unlessTaken =
  (name: string) =>
  (error: unknown): never => {
    if (sqlState(error) === UNIQUE_VIOLATION)
      throw new Conflict(
        `There is already a job template named ${name}, perhaps an archived one; choose another name or restore it.`,
      )
    throw error
  }
