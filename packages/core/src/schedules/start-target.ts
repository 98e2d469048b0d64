import { and, eq } from 'drizzle-orm'
import { discoverNodes } from '../discoveries/index.ts'
import type { Ctx, Tx } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { InvalidInput, NotFound } from '../kernel/errors.ts'
import { connectBlockedReason } from '../nodes/index.ts'
import { runJobOnUsableNodes } from '../runs/index.ts'
import { foldHostlist, selectNodes } from '../selection/index.ts'
import { jobTemplates } from '../templates/tables.ts'
import type { Schedule, ScheduleFiring } from './tables.ts'

type Started = Partial<Pick<ScheduleFiring, 'jobRunId' | 'discoveryIds' | 'message'>>

/**
 * Starts the target of a schedule as the caller.
 * @param key idempotency key of the start
 * @throws the errors of `runJob` and `discoverNodes`
 */
export async function startTarget(tx: Tx, ctx: Ctx, schedule: Schedule, key: string): Promise<Started> {
  if (schedule.target === 'run') {
    const [template] = await tx
      .select({ name: jobTemplates.name })
      .from(jobTemplates)
      .where(and(visibleTo(ctx, jobTemplates), eq(jobTemplates.id, schedule.templateId!)))
    if (!template) throw new NotFound('The job template of the schedule was deleted. Choose another one.')
    const reason = `Schedule ${schedule.name}`
    const { run, message } = await runJobOnUsableNodes(ctx, {
      ...schedule.settings,
      template: template.name,
      limit: schedule.limit,
      reason,
      idempotencyKey: key,
    })
    return { jobRunId: run.id, message }
  }
  const nodes = await selectNodes(ctx, schedule.limit, tx)
  const usable = nodes.filter((node) => connectBlockedReason(node) === null)
  if (usable.length === 0) throw new InvalidInput([{ path: 'limit', message: 'no node matches that allows connections' }])
  const rows = await discoverNodes(ctx, { nodeIds: usable.map(({ id }) => id), idempotencyKey: key }, 'schedule')
  const left = nodes.filter((node) => !usable.includes(node)).map(({ name }) => name)
  const message = left.length > 0 ? `Left out, because they allow no connections: ${foldHostlist(left)}.`.slice(0, 2000) : null
  return { discoveryIds: rows.map(({ id }) => id), message }
}
