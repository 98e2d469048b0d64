import { type Runtime, schema } from '@muster/core/registry'
import { eq } from 'drizzle-orm'

const { tenants } = schema
/** A renamed or suspended tenant is noticed after this time. */
const CACHE_MS = 5000
const MAX_CACHED = 1000

/** Finds tenants that are not suspended by name; null: there is none. Machines ask often, so the answer is kept for five seconds. */
export function createTenantFinder(runtime: Runtime): (name: string) => Promise<{ id: string; name: string } | null> {
  const cache = new Map<string, { tenant: { id: string; name: string } | null; until: number }>()
  return async (name) => {
    const cached = cache.get(name)
    if (cached && cached.until > Date.now()) return cached.tenant
    const [row] = await runtime.db.select().from(tenants).where(eq(tenants.name, name))
    const tenant = row && !row.suspendedAt ? { id: row.id, name: row.name } : null
    // Anybody can ask for any name.
    if (cache.size >= MAX_CACHED) cache.clear()
    cache.set(name, { tenant, until: Date.now() + CACHE_MS })
    return tenant
  }
}
