import { visibleTo } from '@muster/core/db'
import { schema } from '@muster/core/registry'
import { and, eq, sql } from 'drizzle-orm'
import { builder } from '../../../builder.ts'
import { PAGED } from '../../shared/connections.ts'
import { contains } from '../../shared/contains.ts'
import { rowIdIfGiven } from '../../shared/ids.ts'
import { AcceleratorHealth, DeviceType } from './enums.ts'
import { Accelerator, acceleratorConnection } from './types.ts'

const { accelerators } = schema

const AcceleratorFilter = builder.inputType('AcceleratorFilter', {
  description: 'Which accelerators to list; one must fit everything that is given.',
  fields: (t) => ({
    deviceType: t.field({ type: [DeviceType], description: 'Is of one of these kinds.' }),
    vendor: t.stringList({ description: 'Is of one of these vendors.' }),
    model: t.string({ description: 'Its model contains this; case does not count.' }),
    health: t.field({ type: [AcceleratorHealth], description: 'Has one of these healths.' }),
    nodeId: t.id({ description: 'Is in this node.' }),
  }),
})

builder.queryFields((t) => ({
  accelerators: t.drizzleConnection(
    {
      type: Accelerator,
      description: 'Accelerators of all nodes, in the order in which they were first found.',
      authScopes: { authenticated: true },
      args: { filter: t.arg({ type: AcceleratorFilter, description: 'Which accelerators.' }) },
      ...PAGED,
      totalCount: (_root, { filter }, { ctx }) =>
        ctx.db.$count(accelerators, and(visibleTo(ctx, accelerators), acceleratorConditions(filter, accelerators))),
      resolve: (query, _root, { filter }, { ctx }) =>
        ctx.db.query.accelerators.findMany(
          query({ where: { tenantId: ctx.tenantId, RAW: (a) => acceleratorConditions(filter, a) ?? sql`true` } }),
        ),
    },
    ...acceleratorConnection,
  ),
}))

function acceleratorConditions(filter: typeof AcceleratorFilter.$inferInput | null | undefined, a: typeof accelerators) {
  if (!filter) return undefined
  const { deviceType, vendor, model, health } = filter
  const nodeId = rowIdIfGiven('ComputeNode', filter.nodeId)
  return and(
    deviceType ? sql`${a.deviceType} = any(${sql.param(deviceType)}::text[])` : undefined,
    vendor ? sql`${a.vendor} = any(${sql.param(vendor)}::text[])` : undefined,
    model ? contains(a.model, model) : undefined,
    health ? sql`${a.health} = any(${sql.param(health)}::text[])` : undefined,
    nodeId ? eq(a.nodeId, nodeId) : undefined,
  )
}
