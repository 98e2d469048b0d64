import type { z } from 'zod'
import { audit } from '../audit/index.ts'
import { idempotent, oneRow } from '../idempotency/index.ts'
import { authorizeSomewhere, type Ctx, createdBy, type Tx } from '../kernel/context.ts'
import { Conflict, parseInput } from '../kernel/errors.ts'
import { foldHostlist } from '../selection/index.ts'
import { powerRunAudit } from './audit-actions.ts'
import { powerRunChanged } from './change-events.ts'
import { requestOf, StartPowerRunInput } from './input.ts'
import { powerActionPermission } from './permissions.ts'
import { findPowerTargets } from './power-targets.ts'
import { powerRunQueue } from './queues.ts'
import { type PowerRun, powerRunItems, powerRuns } from './tables.ts'

const SHOWN_REASONS = 5
const ROWS_AT_ONCE = 5000

/**
 * Starts a power action on nodes through their BMCs. A worker sends the commands, at most `parallelism` at once and `delaySeconds` apart,
 * and reads the power states back. All or nothing: a node without a BMC, or one that is protected, refuses the action.
 * @throws Forbidden; NotFound a node; InvalidInput
 * @throws Conflict a node has no BMC, or runs SlurmJobs or is locked and the action is not forced
 */
export async function startPowerRun(ctx: Ctx, input: z.input<typeof StartPowerRunInput>): Promise<PowerRun> {
  authorizeSomewhere(ctx, powerActionPermission(input.action))
  const { idempotencyKey, reason, ...fields } = parseInput(StartPowerRunInput, input)
  const request = requestOf(fields)
  const key = { verb: 'startPowerRun', key: idempotencyKey, input: { ...fields, reason }, result: oneRow(powerRuns) }
  return idempotent(ctx, key, async (tx, ctx) => {
    const targets = await findPowerTargets(tx, ctx, request)
    const reasons = targets.flatMap(({ blockedReason }) => blockedReason ?? [])
    if (reasons.length > 0) {
      const more = reasons.length > SHOWN_REASONS ? ` And ${reasons.length - SHOWN_REASONS} more nodes.` : ''
      throw new Conflict(`${reasons.slice(0, SHOWN_REASONS).join(' ')}${more}`)
    }
    const { selection: _selection, ...columns } = request
    const nodes = targets.map(({ node }) => node)
    return insertPowerRun(tx, ctx, { ...columns, slurmClusterId: null, reason, nodes })
  })
}

type NewPowerRun = Pick<
  PowerRun,
  'action' | 'bootDevice' | 'isForced' | 'parallelism' | 'delaySeconds' | 'slurmClusterId' | 'reason'
> & { nodes: readonly { id: string; name: string }[] }

/** Stores a power run in the transaction of a verb, which has authorized its caller and checked the nodes. */
export async function insertPowerRun(tx: Tx, ctx: Ctx, { nodes, ...columns }: NewPowerRun): Promise<PowerRun> {
  const { tenantId } = ctx
  const [run] = await tx
    .insert(powerRuns)
    .values({ ...columns, tenantId, targetCount: nodes.length, ...createdBy(ctx) })
    .returning()
  const items = nodes.map(({ id, name }) => ({ tenantId, runId: run!.id, nodeId: id, nodeName: name }))
  for (let i = 0; i < items.length; i += ROWS_AT_ONCE) await tx.insert(powerRunItems).values(items.slice(i, i + ROWS_AT_ONCE))
  await ctx.queue.send(tx, powerRunQueue, [run!])
  const names = foldHostlist(items.map(({ nodeName }) => nodeName))
  const { action, bootDevice, isForced, reason } = columns
  const details = { action, ...(bootDevice ? { bootDevice } : {}), nodes: names, targetCount: items.length, isForced }
  await audit(tx, ctx, powerRunAudit.start, { id: run!.id, name: action }, details, { reason })
  ctx.notify(powerRunChanged(run!))
  return run!
}
