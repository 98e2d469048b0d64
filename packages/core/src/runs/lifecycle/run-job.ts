import { and, eq } from 'drizzle-orm'
import { z } from 'zod'
import { audit } from '../../audit/index.ts'
import { authorize, type Ctx, inTransaction, type Tx } from '../../kernel/context.ts'
import { visibleTo } from '../../kernel/db/rows.ts'
import { Conflict, parseInput } from '../../kernel/errors.ts'
import { Ids, multilineText, singleLineText } from '../../kernel/input.ts'
import { selectNodes } from '../../selection/index.ts'
import { checkExtraVars, JobTags, MAX_RUN_SECONDS, Serial } from '../../templates/index.ts'
import { jobRunAudit } from '../audit-actions.ts'
import { jobRunChanged } from '../change-events.ts'
import { jobRunPermissions } from '../permissions.ts'
import { type JobRun, jobRunHosts, jobRuns, runSecrets } from '../tables.ts'
import { assertRunnable } from './assert-runnable.ts'
import { insertRun } from './insert-run.ts'
import { encryptRunSecrets, settingsOf, templateNamed, varsOf } from './run-settings.ts'

export const RunJobInput = z
  .object({
    template: singleLineText(200),
    nodeIds: Ids.refine((ids) => ids.length > 0, 'name at least one node').nullish(),
    limit: singleLineText(10_000).nullish(),
    extraVars: z.record(z.string(), z.unknown()).nullish(),
    become: z.boolean().nullish(),
    forks: z.int().min(1).max(500).nullish(),
    timeoutSeconds: z.int().min(1).max(MAX_RUN_SECONDS).nullish(),
    serial: Serial.nullish(),
    maxFailPercentage: z.int().min(0).max(100).nullish(),
    jobTags: JobTags.nullish(),
    skipTags: JobTags.nullish(),
    checkMode: z.boolean().nullish(),
    diffMode: z.boolean().nullish(),
    verbosity: z.int().min(0).max(4).nullish(),
    reason: multilineText(1000).nullish(),
    idempotencyKey: singleLineText(200).nullish(),
  })
  .refine((input) => !input.nodeIds !== !input.limit, 'say where to run: either nodeIds or limit')

/**
 * Start a template's playbook on some nodes. What the caller leaves out comes from the template.
 * The same `idempotencyKey` gives the run that was started first with it, so a caller may try again after a lost answer.
 * @throws Conflict when the key was used for another template or other nodes, or the template is archived
 * @throws InvalidInput when extra vars or nodes cannot be used: every node that cannot is named with its reason
 * @throws NotFound when there is no such template or node
 */
export async function runJob(ctx: Ctx, input: z.input<typeof RunJobInput>): Promise<JobRun> {
  authorize(ctx, jobRunPermissions.start)
  const { extraVars, ...given } = parseInput(RunJobInput, input)
  checkExtraVars(extraVars ?? {})
  const template = await templateNamed(ctx, given.template)
  const vars = varsOf(template, extraVars ?? {})
  const secrets = await encryptRunSecrets(ctx, template, vars.secrets)

  return inTransaction(ctx, async (tx, ctx) => {
    const before = await firstWithKey(ctx, tx, given)
    if (before) return before
    const nodes = await selectNodes(ctx, given.nodeIds ?? given.limit!, tx)
    await assertRunnable(ctx, tx, nodes, given.nodeIds ? 'nodeIds' : 'limit')
    if (secrets) await tx.insert(runSecrets).values(secrets)
    const run = await insertRun(
      tx,
      ctx,
      {
        ...settingsOf(template, given),
        limit: given.limit ?? null,
        extraVars: vars.extraVars,
        secretsId: secrets?.id ?? null,
        reason: given.reason ?? null,
        idempotencyKey: given.idempotencyKey ?? null,
      },
      nodes,
    )
    // Somebody was faster with the same key.
    if (!run) {
      if (secrets) await tx.delete(runSecrets).where(eq(runSecrets.id, secrets.id))
      return (await firstWithKey(ctx, tx, given))!
    }
    await audit(tx, ctx, jobRunAudit.start, { id: run.id, name: run.templateName }, { limit: run.limit, hosts: nodes.length })
    ctx.notify(jobRunChanged({ id: run.id, tenantId: ctx.tenantId }))
    return run
  })
}

type RunRequest = { idempotencyKey?: string | null; template: string; nodeIds?: string[] | null; limit?: string | null }

/** The run that was started with this key. Throws Conflict when it was for something else. */
async function firstWithKey(
  ctx: Ctx,
  tx: Tx,
  { idempotencyKey, template, nodeIds, limit }: RunRequest,
): Promise<JobRun | undefined> {
  if (!idempotencyKey) return undefined
  const [run] = await tx
    .select()
    .from(jobRuns)
    .where(and(visibleTo(ctx, jobRuns), eq(jobRuns.idempotencyKey, idempotencyKey)))
  if (!run) return undefined
  const hosts = nodeIds
    ? await tx.select({ id: jobRunHosts.nodeId }).from(jobRunHosts).where(eq(jobRunHosts.jobRunId, run.id))
    : []
  const asked = new Set(nodeIds)
  // A node that was purged since has left its host without an id.
  const isSame =
    run.templateName === template &&
    run.limit === (limit ?? null) &&
    (!nodeIds || (asked.size === hosts.length && hosts.every((host) => !host.id || asked.has(host.id))))
  if (isSame) return run
  throw new Conflict(
    `The idempotency key was used for another run, of ${run.templateName} on ${run.limit ?? 'other nodes'}. Give each run a key of its own.`,
  )
}
