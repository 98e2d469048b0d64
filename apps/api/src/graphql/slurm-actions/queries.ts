import { tenantPermissions } from '@muster/core/access'
import { isOneOf, visibleTo } from '@muster/core/db'
import { Conflict, NotFound } from '@muster/core/errors'
import { schema } from '@muster/core/registry'
import { previewSlurmAction } from '@muster/core/slurm-actions'
import { and, eq, type SQL, sql } from 'drizzle-orm'
import { builder } from '../../builder.ts'
import { PAGED } from '../shared/connections.ts'
import { COMMON } from '../shared/errors.ts'
import { rowId } from '../shared/ids.ts'
import { SlurmActionStatus, SlurmActionVerb } from './enums.ts'
import { StartSlurmActionInput } from './mutations.ts'
import { SlurmAction, SlurmActionPreviewType, slurmActionConnection } from './types.ts'

const { slurmActions } = schema

const SlurmActionFilter = builder.inputType('SlurmActionFilter', {
  description: 'Filter of actions on Slurm clusters. An action must match all fields that are given.',
  fields: (t) => ({
    clusterId: t.id({ description: 'On this cluster.' }),
    verb: t.field({ type: [SlurmActionVerb], description: 'With one of these verbs; at most 500.' }),
    status: t.field({ type: [SlurmActionStatus], description: 'In one of these states; at most 500.' }),
  }),
})

function conditions(
  filter: typeof SlurmActionFilter.$inferInput | null | undefined,
  action: typeof slurmActions,
): SQL | undefined {
  const { clusterId, verb, status } = filter ?? {}
  return and(
    clusterId ? eq(action.clusterId, rowId('SlurmCluster', clusterId)) : undefined,
    verb ? isOneOf(action.verb, verb, 'text') : undefined,
    status ? isOneOf(action.status, status, 'text') : undefined,
  )
}

builder.queryFields((t) => ({
  previewSlurmAction: t.field({
    type: SlurmActionPreviewType,
    description: 'Preview of what `startSlurmAction` would do with the same input. Nothing is started.',
    authScopes: { permission: tenantPermissions.read },
    errors: { types: [...COMMON, Conflict, NotFound] },
    args: { input: t.arg({ type: StartSlurmActionInput, required: true, description: 'Input of `startSlurmAction`.' }) },
    resolve: (_root, { input }, { ctx }) =>
      previewSlurmAction(ctx, { ...input, clusterId: rowId('SlurmCluster', input.clusterId) }),
  }),
  slurmActions: t.drizzleConnection(
    {
      type: SlurmAction,
      description: 'Actions on Slurm clusters, newest first.',
      authScopes: { permission: tenantPermissions.read },
      args: { filter: t.arg({ type: SlurmActionFilter, description: 'Filter.' }) },
      ...PAGED,
      totalCount: (_root, { filter }, { ctx }) =>
        ctx.db.$count(slurmActions, and(visibleTo(ctx, slurmActions), conditions(filter, slurmActions))),
      resolve: (query, _root, { filter }, { ctx }) =>
        ctx.db.query.slurmActions.findMany(
          query({
            where: { tenantId: ctx.tenantId, RAW: (action) => conditions(filter, action) ?? sql`true` },
            orderBy: { id: 'desc' },
          }),
        ),
    },
    ...slurmActionConnection,
  ),
  slurmAction: t.drizzleField({
    type: SlurmAction,
    nullable: true,
    description: 'Action on a Slurm cluster; null when there is none with this ID.',
    authScopes: { permission: tenantPermissions.read },
    args: { id: t.arg.id({ required: true, description: 'ID of the action.' }) },
    resolve: (query, _root, { id }, { ctx }) =>
      ctx.db.query.slurmActions.findFirst(query({ where: { tenantId: ctx.tenantId, id: rowId('SlurmAction', id) } })),
  }),
}))
