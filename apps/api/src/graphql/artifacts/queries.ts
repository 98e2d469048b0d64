import { tenantPermissions } from '@muster/core/access'
import { schema } from '@muster/core/registry'
import { eq } from 'drizzle-orm'
import { builder } from '../../builder.ts'
import { Retention } from './types.ts'

const { tenants } = schema

builder.queryFields((t) => ({
  retention: t.field({
    type: Retention,
    description: 'The retention settings of the tenant.',
    authScopes: { permission: tenantPermissions.read },
    resolve: async (_root, _args, { ctx }) => (await ctx.db.select().from(tenants).where(eq(tenants.id, ctx.tenantId)))[0]!,
  }),
}))
