import { slurmOperationMessages } from '@muster/core/clusters'
import { retryTransient } from '@muster/core/retry-transient'
import { type ConfigOrigin, recordSlurmConfigRollout, type SlurmConfigVersion } from '@muster/core/slurm-configs'
import { forgetClusterConfig, operationConfig, readRolledOutConfig, storeScaledConfig } from '@muster/core/slurm-scaling'
import type { ConfigFiles, ConfigSettings } from '@muster/slurm/config'
import { type CheckContext, type OperationContext, OperationFailure, type Step } from './operation.ts'
import { rolloutConfig, undoRollout } from './rollout-config.ts'

/** The configuration that the hosts have. @throws OperationFailure there is none */
export async function rolledOut(op: CheckContext): Promise<SlurmConfigVersion> {
  const version = await retryTransient(() => readRolledOutConfig(op.ctx, { clusterId: op.cluster.id }))
  if (version === null) throw new OperationFailure(slurmOperationMessages.noConfiguration({ name: op.cluster.name }))
  return version
}

/** Stores the configuration that the operation rolls out next. */
export const storeConfig = (
  op: OperationContext,
  origin: ConfigOrigin,
  files: ConfigFiles,
  settings: ConfigSettings | null = null,
): Promise<SlurmConfigVersion> => retryTransient(() => storeScaledConfig(op.ctx, { operation: op.row, origin, files, settings }))

export const recordRollout = (op: OperationContext, { number }: SlurmConfigVersion): Promise<void> =>
  retryTransient(() => recordSlurmConfigRollout(op.ctx, { clusterId: op.cluster.id, number }))

/** The hosts have no configuration any more. */
export const forgetRollouts = (op: OperationContext): Promise<void> =>
  retryTransient(() => forgetClusterConfig(op.ctx, { clusterId: op.cluster.id }))

/** Writes a version on the hosts and makes Slurm use it. @throws OperationFailure the hosts have the earlier version again */
export async function rollout(op: OperationContext, from: SlurmConfigVersion, to: SlurmConfigVersion): Promise<void> {
  if (from.number !== to.number) await rolloutConfig(op, { from: from.number, to: to.number })
}

/**
 * Restores the version that the hosts had, when a rollout of this operation was canceled midway. It is a step of its own: once it is done,
 * a rollout that is unfinished belongs to the undoing, which continues it.
 */
export const restoreConfiguration: Step = {
  name: 'restore configuration',
  async run(op) {
    const [{ number }, to] = [await rolledOut(op), await retryTransient(() => operationConfig(op.ctx, { id: op.row.id }))]
    if (to !== null && to !== number) await undoRollout(op, { from: number, to })
  },
}
