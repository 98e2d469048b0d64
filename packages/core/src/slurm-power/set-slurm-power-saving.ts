import type { z } from 'zod'
import { authorizeCluster } from '../clusters/index.ts'
import { authorizeNodes } from '../groups/index.ts'
import { IdempotencyKey, idempotent, oneRow } from '../idempotency/index.ts'
import { authorizeSomewhere, type Ctx } from '../kernel/context.ts'
import { Conflict, parseInput } from '../kernel/errors.ts'
import { singleLineText } from '../kernel/input.ts'
import { powerPermissions } from '../power/index.ts'
import { type ConfigHost, configHosts, createConfigVersion } from '../slurm-configs/index.ts'
import { insertOperation, lockCluster, type SlurmOperation, slurmOperations } from '../slurm-operations/index.ts'
import { slurmPowerPermissions } from './permissions.ts'
import { planPowerSaving } from './plan-power-saving.ts'
import { PreviewSlurmPowerSavingInput } from './preview-slurm-power-saving.ts'
import type { PowerSavingSettings } from './tables.ts'

export const SetSlurmPowerSavingInput = PreviewSlurmPowerSavingInput.extend({
  /** Of the preview that the caller confirmed. */
  fingerprint: singleLineText(100),
  reason: singleLineText(200),
  idempotencyKey: IdempotencyKey,
})

/** What the operation stores and its steps use. Null settings: off. */
export type PowerSavingOperation = {
  settings: PowerSavingSettings | null
  previous: PowerSavingSettings | null
  controllers: ConfigHost[]
  /** The last boot, in ISO 8601, of the nodes that were powered on at the end, by NodeName; absent before. */
  poweredOn?: Record<string, string | null>
}

/**
 * Starts an operation that turns power saving of a managed cluster on or off, or changes its settings. Each change issues a new token to
 * the controllers, and revokes the earlier one.
 * @throws Forbidden; NotFound; Conflict the plan differs from the preview, or it is blocked; InvalidInput
 */
export async function setSlurmPowerSaving(ctx: Ctx, input: z.input<typeof SetSlurmPowerSavingInput>): Promise<SlurmOperation> {
  authorizeSomewhere(ctx, slurmPowerPermissions.write)
  const { idempotencyKey, fingerprint, ...fields } = parseInput(SetSlurmPowerSavingInput, input)
  const { clusterId, settings, reason } = fields
  const key = {
    verb: 'setSlurmPowerSaving',
    key: idempotencyKey,
    input: { ...fields, fingerprint },
    result: oneRow(slurmOperations),
  }
  return idempotent(ctx, key, async (tx, ctx) => {
    const cluster = await lockCluster(tx, ctx, clusterId)
    authorizeCluster(ctx, slurmPowerPermissions.write, cluster)
    const plan = await planPowerSaving(tx, ctx, cluster, settings)
    if (plan.fingerprint !== fingerprint)
      throw new Conflict('The nodes or the configuration changed since the preview. Preview power saving again.')
    if (plan.blockedReason) throw new Conflict(plan.blockedReason)
    // The caller needs the permissions that the controllers get.
    const nodeIds = [...plan.nodes.values()].map(({ id }) => id)
    for (const permission of [powerPermissions.on, powerPermissions.off])
      if (settings !== null) await authorizeNodes(tx, ctx, permission, nodeIds)
    const isChanged = plan.config.plan.controllers !== 'NONE'
    const { from, files, controllers } = plan
    const to = isChanged
      ? await createConfigVersion(tx, ctx, { clusterId, basedOn: from.number, files, origin: 'POWER_SAVING', reason })
      : from
    const work: PowerSavingOperation = { settings, previous: enabledSettings(plan.current), controllers }
    return insertOperation(tx, ctx, {
      clusterId,
      kind: 'POWER_SAVING',
      input: { isOn: settings !== null, from: from.number, to: to.number },
      plan: work,
      configNumber: to.number,
      reason,
      nodes: await configHosts(tx, ctx, cluster, slurmPowerPermissions.write, { from: from.files, to: files }),
    })
  })
}

/** An operation that failed before the first success has left no settings. */
const enabledSettings = (current: { settings: PowerSavingSettings; enabledAt: Date | null } | null) =>
  current?.enabledAt ? current.settings : null
