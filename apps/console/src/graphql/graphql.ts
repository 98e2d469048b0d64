import { initGraphQLTada } from 'gql.tada'
import type { introspection } from '../graphql-env.d.ts'

/** Typed documents, checked against the committed schema. Byte counts fit into a JavaScript number (up to 2^53). */
export const graphql = initGraphQLTada<{
  introspection: introspection
  disableMasking: true
  scalars: { DateTime: string; JSON: unknown; BigInt: number }
}>()
export type { ResultOf, TadaDocumentNode, VariablesOf } from 'gql.tada'
