import { z } from 'zod'
import { IdempotencyKey } from '../idempotency/index.ts'
import { InvalidInput } from '../kernel/errors.ts'
import { Id, singleLineText } from '../kernel/input.ts'
import { BOOT_DEVICES, POWER_ACTIONS, type PowerAction } from './tables.ts'

export const MAX_TARGETS = 10_000

const DEFAULT_PARALLELISM = 10
/** Machines that start at the same moment load the power supply of a rack most. */
const DEFAULT_DELAY_SECONDS: Record<PowerAction, number> = {
  ...{ ON: 1, RESTART: 1, CYCLE: 1 },
  ...{ OFF: 0, FORCE_OFF: 0, NMI: 0, BOOT_ONCE: 0 },
}

export const PreviewPowerRunInput = z.object({
  action: z.enum(POWER_ACTIONS),
  bootDevice: z.enum(BOOT_DEVICES).nullish(),
  nodeIds: z.array(Id).min(1, 'must name at least one node').max(MAX_TARGETS).nullish(),
  limit: z.string().max(100_000).nullish(),
  force: z.boolean().nullish(),
  parallelism: z.int().min(1).max(500).nullish(),
  delaySeconds: z.int().min(0).max(3600).nullish(),
})
export const StartPowerRunInput = PreviewPowerRunInput.extend({
  reason: singleLineText(200),
  idempotencyKey: IdempotencyKey,
})
type Request = z.output<typeof PreviewPowerRunInput>

/** Checks fields that depend on others, and fills in defaults. @throws InvalidInput */
export function requestOf({ action, bootDevice, nodeIds, limit, ...request }: Request) {
  const issues = []
  if (action === 'BOOT_ONCE' && !bootDevice) issues.push({ path: 'bootDevice', message: 'is required for BOOT_ONCE' })
  if (action !== 'BOOT_ONCE' && bootDevice) issues.push({ path: 'bootDevice', message: `does not apply to ${action}` })
  if (Boolean(nodeIds) === Boolean(limit)) issues.push({ path: 'limit', message: 'must be given, or nodeIds; not both' })
  if (issues.length > 0) throw new InvalidInput(issues)
  return {
    action,
    bootDevice: bootDevice ?? null,
    selection: nodeIds ?? limit!,
    isForced: request.force ?? false,
    parallelism: request.parallelism ?? DEFAULT_PARALLELISM,
    delaySeconds: request.delaySeconds ?? DEFAULT_DELAY_SECONDS[action],
  }
}
