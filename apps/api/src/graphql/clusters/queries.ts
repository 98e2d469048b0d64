import { tenantPermissions } from '@muster/core/access'
import { visibleTo } from '@muster/core/db'
import { schema } from '@muster/core/registry'
import { and, sql } from 'drizzle-orm'
import { builder } from '../../builder.ts'
import { PAGED } from '../shared/connections.ts'
import { rowId } from '../shared/ids.ts'
import { clusterConditions, SlurmClusterFilter } from './filters.ts'
import { SlurmCluster, slurmClusterConnection } from './types.ts'

const { slurmClusters } = schema

builder.queryFields((t) => ({
  slurmClusters: t.drizzleConnection(
    {
      type: SlurmCluster,
      description: 'Slurm clusters, ordered by name.',
      authScopes: { permission: tenantPermissions.read },
      args: { filter: t.arg({ type: SlurmClusterFilter, description: 'Filter.' }) },
      ...PAGED,
      totalCount: (_root, { filter }, { ctx }) =>
        ctx.db.$count(slurmClusters, and(visibleTo(ctx, slurmClusters), clusterConditions(filter, slurmClusters))),
      resolve: (query, _root, { filter }, { ctx }) =>
        ctx.db.query.slurmClusters.findMany(
          query({
            where: { tenantId: ctx.tenantId, RAW: (c) => clusterConditions(filter, c) ?? sql`true` },
            orderBy: { name: 'asc' },
          }),
        ),
    },
    ...slurmClusterConnection,
  ),
  slurmCluster: t.drizzleField({
    type: SlurmCluster,
    nullable: true,
    description: 'Slurm cluster with this ID or name; null when there is none.',
    authScopes: { permission: tenantPermissions.read },
    args: {
      id: t.arg.id({ description: 'ID of the cluster. Give either the ID or the name.' }),
      name: t.arg.string({ description: 'Name of the cluster.' }),
    },
    resolve: (query, _root, { id, name }, { ctx }) =>
      ctx.db.query.slurmClusters.findFirst(
        query({
          where: {
            tenantId: ctx.tenantId,
            ...(typeof id === 'string' ? { id: rowId('SlurmCluster', id) } : { name: name ?? '' }),
          },
        }),
      ),
  }),
}))
