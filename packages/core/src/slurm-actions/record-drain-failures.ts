import { sql } from 'drizzle-orm'
import { agents } from '../agents/tables.ts'
import type { Ctx, Tx } from '../kernel/context.ts'
import { nodeChanged } from '../nodes/change-events.ts'
import type { SlurmActionItem, SlurmActionRow } from './tables.ts'

const MAX_MESSAGE = 300

/** Records at agents why the drain that they requested failed, so that it is shown there and can be requested again. */
export async function recordDrainFailures(
  tx: Tx,
  ctx: Ctx,
  { id, verb, tenantId }: SlurmActionRow,
  clusterName: string,
  results: Pick<SlurmActionItem, 'target' | 'result' | 'message'>[],
): Promise<void> {
  if (verb !== 'DRAIN_NODES') return
  for (const { target, result, message } of results) {
    if (result === 'DONE' || result === 'UNCHANGED') continue
    const why = `The drain of ${target} in the cluster ${clusterName} failed (${result})`
    const failure = { result, message: message ? `${why}: ${message.slice(0, MAX_MESSAGE)}` : `${why}.` }
    const { rows } = await tx.execute<{ nodeId: string }>(sql`
      update ${agents} set slurm_drains = (
        select jsonb_agg(case when d->>'actionId' = ${id} then d || ${JSON.stringify({ failure })}::jsonb else d end order by place)
        from jsonb_array_elements(slurm_drains) with ordinality as e(d, place))
      where tenant_id = ${tenantId} and drain_requested_at is not null
        and slurm_drains @> ${JSON.stringify([{ actionId: id, name: target }])}::jsonb
      returning node_id as "nodeId"`)
    for (const { nodeId } of rows) ctx.notify(nodeChanged({ id: nodeId, tenantId }))
  }
}
