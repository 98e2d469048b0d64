import { z } from 'zod'
import { authorizeCluster } from '../clusters/index.ts'
import { authorizeSomewhere, type Ctx } from '../kernel/context.ts'
import { parseInput } from '../kernel/errors.ts'
import { Id } from '../kernel/input.ts'
import { findCluster } from '../slurm-configs/index.ts'
import { slurmPowerPermissions } from './permissions.ts'
import { type PowerSavingPlan, planPowerSaving } from './plan-power-saving.ts'
import { PowerSavingInput } from './settings.ts'

export const PreviewSlurmPowerSavingInput = z.object({
  clusterId: Id,
  /** Null: off. */
  settings: PowerSavingInput.nullable(),
})

/**
 * Returns what `setSlurmPowerSaving` would do with the same settings. Nothing is stored or started.
 * @throws Forbidden; NotFound; Conflict the cluster is not managed; InvalidInput
 */
export async function previewSlurmPowerSaving(
  ctx: Ctx,
  input: z.input<typeof PreviewSlurmPowerSavingInput>,
): Promise<PowerSavingPlan> {
  authorizeSomewhere(ctx, slurmPowerPermissions.write)
  const { clusterId, settings } = parseInput(PreviewSlurmPowerSavingInput, input)
  const cluster = await findCluster(ctx.db, ctx, clusterId)
  authorizeCluster(ctx, slurmPowerPermissions.write, cluster)
  return planPowerSaving(ctx.db, ctx, cluster, settings)
}
