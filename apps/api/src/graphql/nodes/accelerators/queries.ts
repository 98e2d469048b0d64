import { tenantPermissions } from '@muster/core/access'
import { visibleTo } from '@muster/core/db'
import { schema } from '@muster/core/registry'
import { parseVendors, VENDORS } from '@muster/core/selection'
import { and, eq, sql } from 'drizzle-orm'
import { builder } from '../../../builder.ts'
import { PAGED } from '../../shared/connections.ts'
import { contains } from '../../shared/contains.ts'
import { rowIdIfGiven } from '../../shared/ids.ts'
import { AcceleratorHealth, DeviceType } from './enums.ts'
import { Accelerator, acceleratorConnection } from './types.ts'

const { accelerators } = schema

const AcceleratorFilter = builder.inputType('AcceleratorFilter', {
  description: 'Filter of accelerators. All given conditions must match.',
  fields: (t) => ({
    deviceType: t.field({ type: [DeviceType], description: 'One of these types; at most 500.' }),
    vendor: t.stringList({ description: `One of these vendors, case-insensitive: ${VENDORS.join(', ')}; at most 500.` }),
    model: t.string({ description: 'Model contains this text, case-insensitive.' }),
    health: t.field({ type: [AcceleratorHealth], description: 'One of these health values; at most 500.' }),
    nodeId: t.id({ description: 'Accelerators of the node with this ID.' }),
  }),
})

builder.queryFields((t) => ({
  accelerators: t.drizzleConnection(
    {
      type: Accelerator,
      description: 'Accelerators of all nodes, in the order of their first discovery.',
      authScopes: { permission: tenantPermissions.read },
      args: { filter: t.arg({ type: AcceleratorFilter, description: 'Filter.' }) },
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
    vendor ? sql`${a.vendor} = any(${sql.param(parseVendors(vendor, 'filter.vendor'))}::text[])` : undefined,
    model ? contains(a.model, model) : undefined,
    health ? sql`${a.health} = any(${sql.param(health)}::text[])` : undefined,
    nodeId ? eq(a.nodeId, nodeId) : undefined,
  )
}
