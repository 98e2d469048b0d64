import { OUT_OF_SERVICE } from '@muster/core/clusters'
import { type Ctx, schema } from '@muster/core/registry'
import { sql } from 'drizzle-orm'

const { slurmNodes } = schema

/** Condition of SQL: jobs can start on the node `n`. */
export const inService = sql`not (n.states && ${sql.param([...OUT_OF_SERVICE])}::text[])`

/** @property idle GPUs of nodes in service that are not allocated */
export type GpuModelRow = { clusterId: string; model: string; gpus: number; inService: number; allocated: number; idle: number }

/** GPUs by cluster and model. A node in several partitions counts once. */
export async function readGpuModels(ctx: Ctx): Promise<GpuModelRow[]> {
  const gpus = (field: string) => sql`
    select n.cluster_id, ${inService} as usable, coalesce(g->>'type', 'gpu') as model, sum((g->>'count')::int) as gpus
    from ${slurmNodes} n cross join jsonb_array_elements(n.report->${sql.raw(`'${field}'`)}) g
    where n.tenant_id = ${ctx.tenantId} and g->>'name' = 'gpu' group by 1, 2, 3`
  const { rows } = await ctx.db.execute<GpuModelRow>(sql`
    with total as (${gpus('gres')}), used as (${gpus('gresUsed')})
    select t.cluster_id as "clusterId", t.model, sum(t.gpus)::int as gpus, coalesce(sum(t.gpus) filter (where t.usable), 0)::int as "inService",
      coalesce(sum(u.gpus), 0)::int as allocated,
      greatest(0, coalesce(sum(t.gpus - coalesce(u.gpus, 0)) filter (where t.usable), 0))::int as idle
    from total t left join used u using (cluster_id, usable, model)
    group by 1, 2`)
  return rows
}
