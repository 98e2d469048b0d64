import { eq } from 'drizzle-orm'
import { authorizeNodes } from '../../groups/index.ts'
import { authorize, type Ctx, permissionDeniedReason, type Tx } from '../../kernel/context.ts'
import { Forbidden } from '../../kernel/errors.ts'
import { OPERATION_TEMPLATES } from '../../templates/index.ts'
import { jobRunPermissions } from '../permissions.ts'
import { type JobRun, jobRunHosts } from '../tables.ts'

type Template = { id: string | null; name: string; gitCredentialId: string | null; isSystem?: boolean }

/**
 * Checks that the caller may run the template on these nodes: with their credentials, and with that of the template's repository.
 * @throws Forbidden
 */
export async function authorizeRun(
  db: Tx | Ctx['db'],
  ctx: Ctx,
  template: Template,
  nodes: readonly { id: string }[],
): Promise<void> {
  if (ctx.actor.kind !== 'worker' && template.isSystem !== false && OPERATION_TEMPLATES.includes(template.name))
    throw new Forbidden(`Only operations on Slurm clusters run the template ${template.name}. Change the cluster instead.`)
  await authorizeNodes(
    db,
    ctx,
    jobRunPermissions.start,
    nodes.map(({ id }) => id),
    { template, connects: true, credentialIds: [template.gitCredentialId] },
  )
}

/** Checks that the caller may cancel the run: on all its nodes. @throws Forbidden */
export async function authorizeCancel(tx: Tx, ctx: Ctx, run: JobRun): Promise<void> {
  const permission = jobRunPermissions.cancel
  if (permissionDeniedReason(ctx.actor, permission) === null) return
  const hosts = await tx.select({ nodeId: jobRunHosts.nodeId }).from(jobRunHosts).where(eq(jobRunHosts.jobRunId, run.id))
  const nodeIds = hosts.flatMap(({ nodeId }) => nodeId ?? [])
  // A grant covers no node that was deleted.
  if (nodeIds.length < hosts.length) authorize(ctx, permission)
  await authorizeNodes(tx, ctx, permission, nodeIds, { template: { id: run.templateId, name: run.templateName } })
}
