import { tenantPermissions } from '@muster/core/access'
import { isOneOf, visibleTo } from '@muster/core/db'
import { NotFound } from '@muster/core/errors'
import { previewPowerRun } from '@muster/core/power'
import { schema } from '@muster/core/registry'
import { and, eq, type SQL, sql } from 'drizzle-orm'
import { builder } from '../../builder.ts'
import { PAGED } from '../shared/connections.ts'
import { COMMON } from '../shared/errors.ts'
import { rowId } from '../shared/ids.ts'
import { PowerAction, PowerRunStatus } from './enums.ts'
import { PreviewPowerRunInput, withNodeIds } from './mutations.ts'
import { PowerRun, PowerRunPreviewType, powerRunConnection } from './types.ts'

const { powerRuns, powerRunItems } = schema

const PowerRunFilter = builder.inputType('PowerRunFilter', {
  description: 'Filter of power runs. All given conditions must match.',
  fields: (t) => ({
    action: t.field({ type: [PowerAction], description: 'With one of these actions; at most 500.' }),
    status: t.field({ type: [PowerRunStatus], description: 'In one of these states; at most 500.' }),
    nodeId: t.id({ description: 'On this node.' }),
  }),
})

function conditions(filter: typeof PowerRunFilter.$inferInput | null | undefined, run: typeof powerRuns): SQL | undefined {
  const { action, status, nodeId } = filter ?? {}
  return and(
    action ? isOneOf(run.action, action, 'text') : undefined,
    status ? isOneOf(run.status, status, 'text') : undefined,
    nodeId
      ? sql`exists (select from ${powerRunItems} i where ${and(sql`i.run_id = ${run.id}`, eq(sql`i.node_id`, rowId('ComputeNode', nodeId)))})`
      : undefined,
  )
}

builder.queryFields((t) => ({
  previewPowerRun: t.field({
    type: PowerRunPreviewType,
    description: 'Preview of what `startPowerRun` would do with the same input. Nothing is started, and no BMC is asked.',
    authScopes: { permission: tenantPermissions.read },
    errors: { types: [...COMMON, NotFound] },
    args: { input: t.arg({ type: PreviewPowerRunInput, required: true, description: 'Input of `previewPowerRun`.' }) },
    resolve: (_root, { input }, { ctx }) => previewPowerRun(ctx, withNodeIds(input)),
  }),
  powerRuns: t.drizzleConnection(
    {
      type: PowerRun,
      description: 'Power runs, newest first.',
      authScopes: { permission: tenantPermissions.read },
      args: { filter: t.arg({ type: PowerRunFilter, description: 'Filter.' }) },
      ...PAGED,
      totalCount: (_root, { filter }, { ctx }) =>
        ctx.db.$count(powerRuns, and(visibleTo(ctx, powerRuns), conditions(filter, powerRuns))),
      resolve: (query, _root, { filter }, { ctx }) =>
        ctx.db.query.powerRuns.findMany(
          query({
            where: { tenantId: ctx.tenantId, RAW: (run) => conditions(filter, run) ?? sql`true` },
            orderBy: { id: 'desc' },
          }),
        ),
    },
    ...powerRunConnection,
  ),
  powerRun: t.drizzleField({
    type: PowerRun,
    nullable: true,
    description: 'Power run; null when there is none with this ID.',
    authScopes: { permission: tenantPermissions.read },
    args: { id: t.arg.id({ required: true, description: 'ID of the power run.' }) },
    resolve: (query, _root, { id }, { ctx }) =>
      ctx.db.query.powerRuns.findFirst(query({ where: { tenantId: ctx.tenantId, id: rowId('PowerRun', id) } })),
  }),
}))
