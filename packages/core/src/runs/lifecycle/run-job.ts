import { z } from 'zod'
import { audit } from '../../audit/index.ts'
import { IdempotencyKey, idempotent, oneRow } from '../../idempotency/index.ts'
import { authorizeSomewhere, type Ctx } from '../../kernel/context.ts'
import { parseInput } from '../../kernel/errors.ts'
import { Ids, multilineText, singleLineText } from '../../kernel/input.ts'
import { selectNodes } from '../../selection/index.ts'
import { checkExtraVars, JobTags, MAX_RUN_SECONDS, Serial } from '../../templates/index.ts'
import { assertSandboxFor } from '../../workers/index.ts'
import { jobRunAudit } from '../audit-actions.ts'
import { jobRunChanged } from '../change-events.ts'
import { jobRunPermissions } from '../permissions.ts'
import { insertSlurmRun } from '../slurm/insert-slurm-run.ts'
import { SlurmRunInput } from '../slurm/options.ts'
import { type JobRun, jobRuns, runSecrets } from '../tables.ts'
import { assertRunnable } from './assert-runnable.ts'
import { authorizeRun } from './authorize-run.ts'
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
    slurm: SlurmRunInput.nullish(),
    idempotencyKey: IdempotencyKey,
  })
  .refine((input) => !input.nodeIds !== !input.limit, 'say where to run: either nodeIds or limit')

/**
 * Starts a template's playbook on nodes. Settings that the caller omits come from the template. The same `idempotencyKey` returns
 * the first run with it, so a caller may retry after a lost answer.
 * @throws Conflict when the key was used with other input, the template is archived, or its playbook needs a sandbox that no worker has
 * @throws InvalidInput when extra vars or nodes cannot be used; names every such node with its reason
 * @throws NotFound when there is no such template or node
 */
export async function runJob(ctx: Ctx, input: z.input<typeof RunJobInput>): Promise<JobRun> {
  authorizeSomewhere(ctx, jobRunPermissions.start)
  const { extraVars, idempotencyKey, ...given } = parseInput(RunJobInput, input)
  checkExtraVars(extraVars ?? {})
  const template = await templateNamed(ctx, given.template)
  const vars = varsOf(template, extraVars ?? {})
  const secrets = await encryptRunSecrets(ctx, template, vars.secrets)
  const request = { ...given, extraVars, nodeIds: given.nodeIds?.toSorted() }
  return idempotent(
    ctx,
    { verb: 'runJob', key: idempotencyKey, input: request, hasSecrets: secrets !== null, result: oneRow(jobRuns) },
    async (tx, ctx) => {
      const nodes = await selectNodes(ctx, given.nodeIds ?? given.limit!, tx)
      await authorizeRun(tx, ctx, template, nodes)
      await assertRunnable(ctx, tx, nodes, given.nodeIds ? 'nodeIds' : 'limit')
      await assertSandboxFor(tx, template.source)
      if (secrets) await tx.insert(runSecrets).values(secrets)
      const settings = {
        ...settingsOf(template, given),
        limit: given.limit ?? null,
        extraVars: vars.extraVars,
        secretsId: secrets?.id ?? null,
        reason: given.reason ?? null,
      }
      const run = given.slurm
        ? await insertSlurmRun(tx, ctx, settings, nodes, given.slurm)
        : await insertRun(tx, ctx, settings, nodes)
      await audit(tx, ctx, jobRunAudit.start, { id: run.id, name: run.templateName }, { limit: run.limit, hosts: nodes.length })
      ctx.notify(jobRunChanged({ id: run.id, tenantId: ctx.tenantId }))
      return run
    },
  )
}
