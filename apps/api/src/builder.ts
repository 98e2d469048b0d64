import { tenantPermissions } from '@muster/core/access'
import { permissionDeniedReason } from '@muster/core/context'
import { Forbidden, Unauthenticated } from '@muster/core/errors'
import type { Permission } from '@muster/core/permissions'
import { relations } from '@muster/core/registry'
import SchemaBuilder from '@pothos/core'
import ComplexityPlugin from '@pothos/plugin-complexity'
import DrizzlePlugin from '@pothos/plugin-drizzle'
import ErrorsPlugin from '@pothos/plugin-errors'
import RelayPlugin from '@pothos/plugin-relay'
import ScopeAuthPlugin, { type AuthFailure } from '@pothos/plugin-scope-auth'
import { getTableConfig } from 'drizzle-orm/pg-core'
import { type ApiContext, SIGN_IN } from './context.ts'
import { isVisible } from './graphql/shared/visible.ts'
import { fieldCost, MAX_COST, tooCostly } from './limits.ts'

export type SchemaShape = {
  DrizzleRelations: typeof relations
  AsyncSelections: true
  Context: ApiContext
  AuthScopes: { public: boolean; authenticated: boolean; permission: Permission }
  Scalars: {
    ID: { Input: string; Output: string }
    DateTime: { Input: Date; Output: Date }
    JSON: { Input: unknown; Output: unknown }
    BigInt: { Input: number; Output: number }
  }
  DefaultFieldNullability: false
  DefaultEdgesNullability: { list: false; items: false }
  DefaultNodeNullability: false
}

/** Callers who are not signed in see no row. */
const NO_TENANT = '00000000-0000-0000-0000-000000000000'

/** The permission that the caller lacks; undefined when another scope failed. */
function deniedPermission(failure: AuthFailure): Permission | undefined {
  if ('failures' in failure) return failure.failures.map(deniedPermission).find((permission) => permission !== undefined)
  return 'parameter' in failure && failure.scope === 'permission' ? (failure.parameter as Permission) : undefined
}

export const builder = new SchemaBuilder<SchemaShape>({
  // Order matters: the errors plugin catches errors of the plugins after it.
  plugins: [ErrorsPlugin, ScopeAuthPlugin, ComplexityPlugin, RelayPlugin, DrizzlePlugin],
  defaultFieldNullability: false,
  drizzle: {
    client: ({ caller, deps, signedInTenantId }) => deps.runtime.tenantDb(signedInTenantId ?? caller?.tenantId ?? NO_TENANT),
    getTableConfig,
    relations,
  },
  // A mutation returns only the error types that it lists; all other errors are masked.
  errors: {
    directResult: true,
    defaultTypes: [],
    defaultUnionOptions: {
      name: ({ fieldName }) => `${fieldName[0]!.toUpperCase()}${fieldName.slice(1)}Result`,
      description: 'The result, or the error that prevented it.',
    },
  },
  scopeAuth: {
    authorizeOnSubscribe: true,
    authScopes: ({ caller }) => ({
      public: true,
      authenticated: caller !== null,
      permission: (permission) => caller !== null && permissionDeniedReason(caller.actor, permission) === null,
    }),
    unauthorizedError: (_parent, { caller }, info, { failure }) => {
      if (!caller) return new Unauthenticated(SIGN_IN)
      const denied = deniedPermission(failure)
      const reason = denied && permissionDeniedReason(caller.actor, denied)
      return new Forbidden(`${info.fieldName}: ${reason ?? `your role, ${caller.actor.role}, does not allow this.`}`)
    },
  },
  complexity: {
    limit: ({ isCostKnown }) => (isCostKnown ? {} : { complexity: MAX_COST }),
    fieldComplexity: fieldCost,
    complexityError: tooCostly,
  },
  relay: {
    cursorType: 'String',
    nodesQueryOptions: false,
    nodeQueryOptions: {
      description: 'Object by its global ID; null when it does not exist or is not visible to the caller.',
      nullable: true,
      authScopes: { permission: tenantPermissions.read },
      args: { id: { description: 'Global ID of the object.' } },
      resolve: async (_root, { id }, { ctx }, _info, resolveNode) => ((await isVisible(ctx, id)) ? resolveNode(id) : null),
    },
    nodeTypeOptions: { description: 'An object with a global ID, which `node(id:)` resolves.' },
    idFieldOptions: { description: 'Global ID, unique across all types.' },
    edgesFieldOptions: {
      nullable: { list: false, items: false },
      description: 'Edges of this page: objects with their cursors.',
    },
    nodeFieldOptions: { nullable: false, description: 'The object at this edge.' },
    cursorFieldOptions: { description: 'Cursor of the object, for `after` and `before`.' },
    pageInfoFieldOptions: { description: 'Whether previous and next pages exist, and the cursors to request them.' },
    pageInfoTypeOptions: { description: 'Position of a page in its list.' },
    hasNextPageFieldOptions: { description: 'Whether there is a next page.' },
    hasPreviousPageFieldOptions: { description: 'Whether there is a previous page.' },
    startCursorFieldOptions: { description: 'Cursor of the first object; null when the page is empty.' },
    endCursorFieldOptions: { description: 'Cursor of the last object; null when the page is empty.' },
    firstArgOptions: {
      description: 'Page size from the start of the list, at most 500. Default: 50 when `last` is not given either.',
    },
    afterArgOptions: { description: 'Return objects after this cursor.' },
    lastArgOptions: { description: 'Page size from the end of the list, at most 500.' },
    beforeArgOptions: { description: 'Return objects before this cursor.' },
  },
})

builder.queryType({ description: 'Read operations. All results are limited to the tenant of the caller.' })
builder.mutationType({ description: 'Write operations. The result union of each mutation lists the errors that it can return.' })
builder.subscriptionType({
  description: 'Live updates over WebSocket (graphql-ws) or server-sent events. Cursors are valid with both transports.',
})
