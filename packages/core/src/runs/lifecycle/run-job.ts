import { z } from 'zod'
import { audit } from '../../audit/index.ts'
import { IdempotencyKey, idempotent, oneRow } from '../../idempotency/index.ts'
import { authorizeSomewhere, type Ctx } from '../../kernel/context.ts'
import { parseInput } from '../../kernel/errors.ts'
import { Ids, multilineText, singleLineText } from '../../kernel/input.ts'
import { foldHostlist, selectNodes } from '../../selection/index.ts'
import { checkExtraVars, JobTags, MAX_RUN_SECONDS, Serial } from '../../templates/index.ts'
import { assertSandboxFor } from '../../workers/index.ts'
import { jobRunAudit } from '../audit-actions.ts'
import { jobRunChanged } from '../change-events.ts'
import { jobRunPermissions } from '../permissions.ts'
import { insertSlurmRun } from '../slurm/insert-slurm-run.ts'
import { SlurmRunInput } from '../slurm/options.ts'
import { type JobRun, jobRuns, runSecrets, type RunSettings as Settings } from '../tables.ts'
import { assertRunnable } from './assert-runnable.ts'
import { authorizeRun } from './authorize-run.ts'
import { insertRun } from './insert-run.ts'
import { encryptRunSecrets, settingsOf, templateNamed, varsOf } from './run-settings.ts'

/** Launch settings, which replace those of the template. */
export const RunSettings = z.object({
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
  slurm: SlurmRunInput.nullish(),
})
export type RunSettings = Settings

export const RunJobInput = RunSettings.extend({
  template: singleLineText(200),
  nodeIds: Ids.refine((ids) => ids.length > 0, 'name at least one node').nullish(),
  limit: singleLineText(10_000).nullish(),
  reason: multilineText(1000).nullish(),
  /** Runs on nodes with an OFFLINE agent too. */
  includeOffline: z.boolean().nullish(),
  idempotencyKey: IdempotencyKey,
}).refine((input) => !input.nodeIds !== !input.limit, 'say where to run: either nodeIds or limit')

/**
 * Starts a template's playbook on nodes. Settings that the caller omits come from the template. The same `idempotencyKey` returns
 * the first run with it, so a caller may retry after a lost answer.
 * @throws Conflict when the key was used with other input, the template is archived, or its playbook needs a sandbox that no worker has
 * @throws InvalidInput when extra vars or nodes cannot be used; names every such node with its reason
 * @throws NotFound when there is no such template or node
 */
export const runJob = async (ctx: Ctx, input: z.input<typeof RunJobInput>): Promise<JobRun> =>
  (await startRun(ctx, input, false)).run

/**
 * `runJob` for starts without a user, for which a node in maintenance must not prevent the run on all others.
 * @returns the run, and which nodes it leaves out with their reasons; null when none
 */
export async function runJobOnUsableNodes(
  ctx: Ctx,
  input: z.input<typeof RunJobInput>,
): Promise<{ run: JobRun; message: string | null }> {
  const { run, leftOut } = await startRun(ctx, input, true)
  return { run, message: leftOut.length > 0 ? `Left out: ${leftOut.join('. ')}.`.slice(0, 2000) : null }
}

async function startRun(
  ctx: Ctx,
  input: z.input<typeof RunJobInput>,
  leavesOutBlocked: boolean,
): Promise<{ run: JobRun; leftOut: string[] }> {
  authorizeSomewhere(ctx, jobRunPermissions.start)
  const { extraVars, idempotencyKey, ...given } = parseInput(RunJobInput, input)
  checkExtraVars(extraVars ?? {})
  const template = await templateNamed(ctx, given.template)
  const vars = varsOf(template, extraVars ?? {})
  const secrets = await encryptRunSecrets(ctx, template, vars.secrets)
  const request = { ...given, extraVars, nodeIds: given.nodeIds?.toSorted() }
  let left: string[] = []
  const run = await idempotent(
    ctx,
    { verb: 'runJob', key: idempotencyKey, input: request, hasSecrets: secrets !== null, result: oneRow(jobRuns) },
    async (tx, ctx) => {
      const selected = await selectNodes(ctx, given.nodeIds ?? given.limit!, tx)
      await authorizeRun(tx, ctx, template, selected)
      const templateSettings = settingsOf(template, given, vars.extraVars)
      const options = { ...templateSettings, drainsItself: Boolean(given.slurm), leavesOutBlocked }
      const path = given.nodeIds ? 'nodeIds' : 'limit'
      const { nodes, skipped, leftOut } = await assertRunnable(ctx, tx, selected, path, options)
      left = leftOut
      await assertSandboxFor(tx, template.source)
      if (secrets) await tx.insert(runSecrets).values(secrets)
      const settings = {
        ...templateSettings,
        limit: given.limit ?? null,
        extraVars: vars.extraVars,
        secretsId: secrets?.id ?? null,
        reason: given.reason ?? null,
      }
      const run = given.slurm
        ? await insertSlurmRun(tx, ctx, settings, nodes, given.slurm, skipped)
        : await insertRun(tx, ctx, settings, nodes, skipped)
      const details = {
        ...{ limit: run.limit, hosts: nodes.length },
        ...(skipped.length > 0 ? { skipped: foldHostlist(skipped.map(({ node }) => node.name)) } : {}),
        ...(run.includeOffline ? { includeOffline: true } : {}),
      }
      await audit(tx, ctx, jobRunAudit.start, { id: run.id, name: run.templateName }, details)
      ctx.notify(jobRunChanged({ id: run.id, tenantId: ctx.tenantId }))
      return run
    },
  )
  return { run, leftOut: left }
}
