import { type AnyRelations, type EmptyRelations, sql } from 'drizzle-orm'
import { drizzle } from 'drizzle-orm/node-postgres'
import type pg from 'pg'
import { openPool, type PoolDb } from './client.ts'
import { inTenant, TENANT_SETTING } from './tenant-query.ts'

/** Databases of tenants that are kept; the least recently used one is created again. */
const MAX_TENANTS = 1000

/** Runs each statement in a tenant; Drizzle recognizes a pool by the name of its class. */
class TenantPool {
  readonly #pool: pg.Pool
  readonly #tenantId: string
  constructor(pool: pg.Pool, tenantId: string) {
    this.#pool = pool
    this.#tenantId = tenantId
  }
  query(config: string | pg.QueryConfig, values?: unknown[]) {
    return this.#pool.query(inTenant(config, this.#tenantId), values)
  }
  connect() {
    return this.#pool.connect()
  }
}

/** The database as one tenant sees it: row-level security hides all other rows, in every statement and transaction. */
export type TenantDbs<R extends AnyRelations = EmptyRelations> = (tenantId: string) => PoolDb<R>

/**
 * Connects with the application role, which sees only rows of the tenant that a statement or transaction sets.
 * @param options.statementTimeoutMs the server cancels longer statements; default: none
 */
export function connectTenants<R extends AnyRelations = EmptyRelations>(
  url: string,
  options: { max?: number; name?: string; relations?: R; statementTimeoutMs?: number } = {},
) {
  const pool = openPool(url, options)
  const known = new Map<string, PoolDb<R>>()
  const tenantDb: TenantDbs<R> = (tenantId) => {
    const db = known.get(tenantId) ?? create(tenantId)
    known.delete(tenantId)
    known.set(tenantId, db)
    if (known.size > MAX_TENANTS) known.delete(known.keys().next().value!)
    return db
  }
  function create(tenantId: string): PoolDb<R> {
    const client = new TenantPool(pool, tenantId) as unknown as pg.Pool
    const db = drizzle<R, pg.Pool>({ client, relations: options.relations as R })
    const transaction = db.transaction.bind(db)
    db.transaction = (work, config) =>
      transaction(async (tx) => {
        await tx.execute(sql`select set_config(${TENANT_SETTING}, ${tenantId}, true)`)
        return work(tx)
      }, config)
    return db
  }
  return { tenantDb, pool, close: () => pool.end() }
}
