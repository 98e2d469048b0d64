import { ROLES, type Role } from '@muster/core/access'
import { Forbidden, Unauthenticated } from '@muster/core/errors'
import { relations } from '@muster/core/registry'
import SchemaBuilder from '@pothos/core'
import ComplexityPlugin from '@pothos/plugin-complexity'
import DrizzlePlugin from '@pothos/plugin-drizzle'
import ErrorsPlugin from '@pothos/plugin-errors'
import RelayPlugin from '@pothos/plugin-relay'
import ScopeAuthPlugin from '@pothos/plugin-scope-auth'
import { getTableConfig } from 'drizzle-orm/pg-core'
import { type ApiContext, SIGN_IN } from './context.ts'
import { isVisible } from './graphql/shared/visible.ts'
import { fieldCost, MAX_COST, tooCostly } from './limits.ts'

export type SchemaShape = {
  DrizzleRelations: typeof relations
  AsyncSelections: true
  Context: ApiContext
  AuthScopes: { public: boolean; authenticated: boolean; role: Role }
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

export const builder = new SchemaBuilder<SchemaShape>({
  // Order matters: the errors plugin catches errors of the plugins after it.
  plugins: [ErrorsPlugin, ScopeAuthPlugin, ComplexityPlugin, RelayPlugin, DrizzlePlugin],
  defaultFieldNullability: false,
  drizzle: { client: (context) => context.deps.runtime.db, getTableConfig, relations },
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
      role: (role) => caller !== null && ROLES.indexOf(caller.actor.role) >= ROLES.indexOf(role),
    }),
    unauthorizedError: (_parent, { caller }, info) =>
      caller
        ? new Forbidden(`${info.fieldName}: your role, ${caller.actor.role}, does not allow this.`)
        : new Unauthenticated(SIGN_IN),
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
      authScopes: { authenticated: true },
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
