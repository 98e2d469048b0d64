import { tenantPermissions } from '@muster/core/access'
import { NotFound } from '@muster/core/errors'
import { schema } from '@muster/core/registry'
import { compareVars, varsImpact } from '@muster/core/variables'
import { eq } from 'drizzle-orm'
import { builder } from '../../builder.ts'
import { COMMON } from '../shared/errors.ts'
import { rowId } from '../shared/ids.ts'
import { NEVER, PLACE_OF, placeOf, VarComparison, VariableScope, VarSettings, VarsImpactType } from './types.ts'

const { tenants } = schema

const VarsImpactInput = builder.inputType('VarsImpactInput', {
  description: 'Input of `varsImpact`.',
  fields: (t) => ({
    groupId: t.id({ description: PLACE_OF.groupId }),
    nodeId: t.id({ description: PLACE_OF.nodeId }),
    text: t.string({ description: 'The variables after the edit: YAML or JSON.' }),
    secret: t.string({ description: 'Instead of `text`: name of a secret variable that would get a new value.' }),
  }),
})

builder.queryFields((t) => ({
  globalVars: t.drizzleField({
    type: VariableScope,
    nullable: true,
    description: `Variables of all nodes; ${NEVER}`,
    authScopes: { permission: tenantPermissions.read },
    resolve: (query, _root, _args, { ctx }) =>
      ctx.db.query.variableScopes.findFirst(
        query({ where: { tenantId: ctx.tenantId, groupId: { isNull: true }, nodeId: { isNull: true } } }),
      ),
  }),
  varSettings: t.field({
    type: VarSettings,
    description: 'Settings of the tenant for variables.',
    authScopes: { permission: tenantPermissions.read },
    resolve: async (_root, _args, { ctx }) => {
      const [tenant] = await ctx.db.select().from(tenants).where(eq(tenants.id, ctx.tenantId))
      return tenant!
    },
  }),
  compareVars: t.field({
    type: [VarComparison],
    description: 'Comparison of the effective variables of two nodes, ordered by name. Each layer has at most 256 KiB.',
    authScopes: { permission: tenantPermissions.read },
    args: {
      leftId: t.arg.id({ required: true, description: 'ID of the first node.' }),
      rightId: t.arg.id({ required: true, description: 'ID of the second node.' }),
    },
    resolve: (_root, { leftId, rightId }, { ctx }) =>
      compareVars(ctx, { left: rowId('ComputeNode', leftId), right: rowId('ComputeNode', rightId) }),
  }),
  varsImpact: t.field({
    type: VarsImpactType,
    description: 'Effect of an edit of variables on nodes. Nothing is saved.',
    authScopes: { permission: tenantPermissions.read },
    errors: { types: [...COMMON, NotFound] },
    args: { input: t.arg({ type: VarsImpactInput, required: true, description: 'Input of `varsImpact`.' }) },
    resolve: (_root, { input: { text, secret, ...place } }, { ctx }) => varsImpact(ctx, { ...placeOf(place), text, secret }),
  }),
}))
