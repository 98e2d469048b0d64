import type { TenantFixture } from '@muster/core/testing'
import type { TypeName } from '../graphql/shared/ids.ts'
import type { testApi } from './api.ts'

/** The tenant with the objects. The stranger is the owner of another tenant and tries to access them. */
export type Victim = {
  t: Awaited<ReturnType<typeof testApi>>
  tenant: TenantFixture
  credential: { id: string }
  node: { id: string; tenantId: string }
  run: { id: string; tenantId: string; templateId: string }
}

/** What the stranger may know: global IDs of objects of the victim, and names. */
export type Known = { theirs: Record<TypeName, string>; names: { node: string; credential: string } }

export type IsolationCase = {
  query: (known: Known) => string
  /** Expected data. Without it, a subscription must end without an event. */
  answer?: unknown
  /** Expected error code instead of data. */
  code?: string
}

export type Isolation = {
  /** Creates one object of each type of the domain that has a global ID. */
  objects?: (victim: Victim) => Promise<Partial<Record<TypeName, { id: string }>>>
  /** Each root field of the domain, as `Query.nodes`, with the response to the stranger. */
  cases: Record<string, IsolationCase>
}

/** The part of a domain in isolation.test.ts. */
export const defineIsolation = (isolation: Isolation): Isolation => isolation

export const EMPTY_PAGE = { edges: [] }
export const NOT_FOUND = { __typename: 'NotFoundError' }
