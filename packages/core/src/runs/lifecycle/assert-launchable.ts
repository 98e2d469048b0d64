import { authorizeSomewhere, type Ctx, type Tx } from '../../kernel/context.ts'
import { InvalidInput } from '../../kernel/errors.ts'
import { selectNodes } from '../../selection/index.ts'
import { checkExtraVars, secretNames } from '../../templates/index.ts'
import type { JobTemplate, Vars } from '../../templates/tables.ts'
import { assertSandboxFor } from '../../workers/index.ts'
import { jobRunPermissions } from '../permissions.ts'
import { authorizeSlurmRun } from '../slurm/insert-slurm-run.ts'
import { authorizeRun } from './authorize-run.ts'
import type { RunSettings } from './run-job.ts'
import { templateNamed, varsOf } from './run-settings.ts'

/** A run that Muster starts later, perhaps repeatedly. */
export type LaunchRequest = {
  template: string
  limit: string
  settings: RunSettings
  /** Names of variables that the start adds. */
  laterVars?: readonly string[]
}

/**
 * Checks now that the caller may start the run and that its settings are valid. `runJob` checks everything again at the start. Nodes that
 * cannot be used now may be usable then, and the selection may be empty now.
 * @throws InvalidInput, Forbidden, NotFound, Conflict
 */
export async function assertLaunchable(
  tx: Tx,
  ctx: Ctx,
  { template: name, limit, settings, laterVars = [] }: LaunchRequest,
): Promise<JobTemplate> {
  authorizeSomewhere(ctx, jobRunPermissions.start)
  const extraVars = settings.extraVars ?? {}
  checkExtraVars(extraVars)
  const template = await templateNamed(ctx, name)
  assertNoSecrets(template, extraVars)
  // With variables that are added later, only the start can validate all of them together.
  if (laterVars.length === 0) varsOf(template, extraVars)
  if (settings.slurm) authorizeSlurmRun(ctx)
  await authorizeRun(tx, ctx, template, await selectNodes(ctx, limit, tx))
  await assertSandboxFor(tx, template.source)
  return template
}

/** Settings that are stored for later are readable, so that they must not contain secrets. */
function assertNoSecrets(template: JobTemplate, extraVars: Vars): void {
  const given = secretNames(template.inputSchema).filter((name) => name in extraVars)
  if (given.length > 0)
    throw new InvalidInput(
      given.map((name) => ({
        path: `settings.extraVars.${name}`,
        message: 'is a secret, which cannot be stored here; set it as a secret variable of the nodes or their groups',
      })),
    )
}
