import { tenantPermissions } from '@muster/core/access'
import { visibleTo } from '@muster/core/db'
import { Conflict, NotFound } from '@muster/core/errors'
import { schema } from '@muster/core/registry'
import { previewSlurmAction } from '@muster/core/slurm-actions'
import { and, eq } from 'drizzle-orm'
import { builder } from '../../builder.ts'
import { PAGED } from '../shared/connections.ts'
import { COMMON } from '../shared/errors.ts'
import { rowId } from '../shared/ids.ts'
import { StartSlurmActionInput } from './mutations.ts'
import { SlurmAction, SlurmActionPreviewType, slurmActionConnection } from './types.ts'

const { slurmActions } = schema

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
      args: { clusterId: t.arg.id({ description: 'On this cluster.' }) },
      ...PAGED,
      totalCount: (_root, { clusterId }, { ctx }) =>
        ctx.db.$count(
          slurmActions,
          and(visibleTo(ctx, slurmActions), clusterId ? eq(slurmActions.clusterId, rowId('SlurmCluster', clusterId)) : undefined),
        ),
      resolve: (query, _root, { clusterId }, { ctx }) =>
        ctx.db.query.slurmActions.findMany(
          query({
            where: { tenantId: ctx.tenantId, ...(clusterId ? { clusterId: rowId('SlurmCluster', clusterId) } : {}) },
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
