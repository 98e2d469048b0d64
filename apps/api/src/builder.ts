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
  // The order counts: errors of the plugins behind it end in the unions that the errors plugin makes.
  plugins: [ErrorsPlugin, ScopeAuthPlugin, ComplexityPlugin, RelayPlugin, DrizzlePlugin],
  defaultFieldNullability: false,
  drizzle: { client: (context) => context.deps.runtime.db, getTableConfig, relations },
  // Only what a mutation lists leaves it as a message; everything else is masked.
  errors: {
    directResult: true,
    defaultTypes: [],
    defaultUnionOptions: {
      name: ({ fieldName }) => `${fieldName[0]!.toUpperCase()}${fieldName.slice(1)}Result`,
      description: 'What the mutation changed, or the reason why it did not.',
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
      description: 'The object with that id, whatever its type; null when there is none for the caller.',
      nullable: true,
      authScopes: { authenticated: true },
      args: { id: { description: 'Its id.' } },
      resolve: async (_root, { id }, { ctx }, _info, resolveNode) => ((await isVisible(ctx, id)) ? resolveNode(id) : null),
    },
    nodeTypeOptions: { description: 'An object that can be fetched again by its id alone.' },
    idFieldOptions: { description: 'Id, unique among all objects of all types.' },
    edgesFieldOptions: { nullable: { list: false, items: false }, description: 'The objects of this page, each with its place.' },
    nodeFieldOptions: { nullable: false, description: 'The object.' },
    cursorFieldOptions: { description: 'Its place in the list, for `after` and `before`.' },
    pageInfoFieldOptions: { description: 'Whether there is more on either side.' },
    pageInfoTypeOptions: { description: 'Where a page stands in its list.' },
    hasNextPageFieldOptions: { description: 'Whether more objects follow this page.' },
    hasPreviousPageFieldOptions: { description: 'Whether more objects come before this page.' },
    startCursorFieldOptions: { description: 'Place of the first object; null when the page is empty.' },
    endCursorFieldOptions: { description: 'Place of the last object; null when the page is empty.' },
    firstArgOptions: { description: 'At most this many from the front, at most 500. Without `first` and `last` it is 50.' },
    afterArgOptions: { description: 'Only what follows this cursor.' },
    lastArgOptions: { description: 'At most this many from the end, at most 500.' },
    beforeArgOptions: { description: 'Only what comes before this cursor.' },
  },
})

builder.queryType({ description: 'Everything that can be read. All of it is inside the tenant of the caller.' })
builder.mutationType({ description: 'Everything that can be changed. Each mutation lists the errors it can answer with.' })
builder.subscriptionType({
  description: 'Live changes, over WebSocket (graphql-ws) or server-sent events, with one cursor for both.',
})
