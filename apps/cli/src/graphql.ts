import { initGraphQLTada } from 'gql.tada'
import type { introspection } from './graphql-env.d.ts'

/** Typed documents, validated against the committed schema. */
export const graphql = initGraphQLTada<{
  introspection: introspection
  disableMasking: true
  scalars: { DateTime: string; JSON: unknown; BigInt: number }
}>()
export type { ResultOf, VariablesOf } from 'gql.tada'
