import type { AnyRelations } from 'drizzle-orm'
import type { AnyPgColumn, PgTable } from 'drizzle-orm/pg-core'
import type { Settings } from './config.ts'
import type { Permission } from './permissions.ts'
import type { QueueDefinition } from './queue.ts'

/** What a domain folder registers; `registry.ts` collects it from all domains. */
export type Domain = {
  name: string
  /** By the name of the exported constant. */
  permissions?: Record<string, Record<string, Permission>>
  auditActions?: Record<string, Record<string, { readonly name: string }>>
  changeEvents?: readonly { readonly topic: string }[]
  queues?: readonly QueueDefinition[]
  settings?: Settings
  /** The module `tables.ts`. */
  tables?: object
  relations?: AnyRelations
  /** Tables of the types that have a global id, by type name. */
  graphqlIds?: Record<string, PgTable & { id: AnyPgColumn; tenantId: AnyPgColumn }>
}

export const defineDomain = <const D extends Domain>(domain: D): D => domain
