import { schema } from '@muster/core/registry'
import { sql } from 'drizzle-orm'
import { builder } from '../../../builder.ts'
import { jsonRows } from '../../shared/json-rows.ts'
import { AcceleratorHealth, DeviceType } from './enums.ts'

const { accelerators, computeNodes } = schema

type Row = typeof accelerators.$inferSelect

type Health = Row['health']

type Summary = {
  deviceType: Row['deviceType']
  model: string | null
  count: number
  worstHealth: Health
  memoryTotal: number | null
}

export const AcceleratorSummary = builder.objectRef<Summary>('AcceleratorSummary').implement({
  description: 'Accelerators of one type and model on one node.',
  fields: (t) => ({
    deviceType: t.expose('deviceType', { type: DeviceType, description: 'Type.' }),
    model: t.exposeString('model', { nullable: true, description: 'Model; null when unknown.' }),
    count: t.exposeInt('count', { description: 'Number of accelerators.' }),
    worstHealth: t.expose('worstHealth', { type: AcceleratorHealth, description: 'Worst health of the accelerators.' }),
    memoryTotalBytes: t.expose('memoryTotal', {
      type: 'BigInt',
      nullable: true,
      description: 'Sum of the memory in bytes; null when unknown.',
    }),
  }),
})

const WORST_FIRST = ['lost', 'critical', 'warning', 'unknown', 'ok'] as const satisfies readonly Health[]

type Found = Omit<Summary, 'worstHealth'> & { worst: number }

/** Selects the accelerators of a node, grouped by type and model, in the statement that reads the node. */
export const acceleratorSummary = (n: Pick<typeof computeNodes, 'id' | 'tenantId'>) =>
  jsonRows<Found>(sql`
    select a.device_type as "deviceType", a.model, count(*)::int as count, sum(a.memory_total) as "memoryTotal",
      min(array_position(${sql.param([...WORST_FIRST])}::text[], a.health)) as worst
    from ${accelerators} a where a.node_id = ${n.id} and a.tenant_id = ${n.tenantId}
    group by a.device_type, a.model order by a.device_type, a.model`).mapWith((found: Found[]): Summary[] =>
    found.map(({ worst, ...summary }) => ({ ...summary, worstHealth: WORST_FIRST[worst - 1] ?? 'unknown' })),
  )
