import type { z } from 'zod'
import { authorizeSomewhere, type Ctx } from '../kernel/context.ts'
import { parseInput } from '../kernel/errors.ts'
import { PreviewPowerRunInput, requestOf } from './input.ts'
import { powerActionPermission } from './permissions.ts'
import { findPowerTargets, type PowerTarget } from './power-targets.ts'

export type PowerRunPreview = { targets: PowerTarget[]; parallelism: number; delaySeconds: number }

/**
 * Returns what `startPowerRun` would do with the same input. Nothing is started, and no BMC is asked.
 * @throws Forbidden, InvalidInput, NotFound
 */
export async function previewPowerRun(ctx: Ctx, input: z.input<typeof PreviewPowerRunInput>): Promise<PowerRunPreview> {
  authorizeSomewhere(ctx, powerActionPermission(input.action))
  const request = requestOf(parseInput(PreviewPowerRunInput, input))
  const { parallelism, delaySeconds } = request
  return { targets: await findPowerTargets(ctx.db, ctx, request), parallelism, delaySeconds }
}
