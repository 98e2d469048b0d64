import { isOneOf, visibleTo } from '@muster/core/db'
import { schema } from '@muster/core/registry'
import { and, asc, sql } from 'drizzle-orm'
import { builder } from '../../../builder.ts'
import { loader } from '../../shared/loaders.ts'
import { AcceleratorHealth, DeviceType } from './enums.ts'

const { accelerators } = schema

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
  description: 'Accelerators of one kind and model on one node.',
  fields: (t) => ({
    deviceType: t.expose('deviceType', { type: DeviceType, description: 'Their kind.' }),
    model: t.exposeString('model', { nullable: true, description: 'Their model.' }),
    count: t.exposeInt('count', { description: 'How many there are.' }),
    worstHealth: t.expose('worstHealth', { type: AcceleratorHealth, description: 'Health of the worst of them.' }),
    memoryTotal: t.expose('memoryTotal', {
      type: 'BigInt',
      nullable: true,
      description: 'Memory of all of them together, in bytes.',
    }),
  }),
})

const WORST_FIRST = ['lost', 'critical', 'warning', 'unknown', 'ok'] as const satisfies readonly Health[]

/** The accelerators of a node, grouped by kind and model. */
export const acceleratorSummaries = loader<Summary[]>(async ({ ctx }, nodeIds) => {
  const rows = await ctx.db
    .select({
      nodeId: accelerators.nodeId,
      deviceType: accelerators.deviceType,
      model: accelerators.model,
      count: sql<number>`count(*)::int`,
      worst: sql<number>`min(array_position(${sql.param([...WORST_FIRST])}::text[], ${accelerators.health}))`,
      memoryTotal: sql<string | null>`sum(${accelerators.memoryTotal})`,
    })
    .from(accelerators)
    .where(and(visibleTo(ctx, accelerators), isOneOf(accelerators.nodeId, [...nodeIds])))
    .groupBy(accelerators.nodeId, accelerators.deviceType, accelerators.model)
    .orderBy(asc(accelerators.deviceType), asc(accelerators.model))
  const byNode = new Map<string, Summary[]>()
  for (const { nodeId, worst, memoryTotal, ...row } of rows) {
    const summary = {
      ...row,
      worstHealth: WORST_FIRST[worst - 1] ?? 'unknown',
      memoryTotal: memoryTotal === null ? null : Number(memoryTotal),
    }
    byNode.set(nodeId, [...(byNode.get(nodeId) ?? []), summary])
  }
  return byNode
})
