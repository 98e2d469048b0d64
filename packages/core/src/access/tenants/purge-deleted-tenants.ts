import { eq, isNotNull, sql } from 'drizzle-orm'
import type { ArtifactStore } from '../../artifacts/index.ts'
import { audit } from '../../audit/index.ts'
import { authorize, type SystemCtx, type Tx } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/client.ts'
import { removeAllRuns } from '../../runs/index.ts'
import { jobRuns } from '../../runs/tables.ts'
import { tenantAudit } from '../audit-actions.ts'
import { tenantPermissions } from '../permissions.ts'
import { type Tenant, tenants } from '../tables.ts'
import { isActiveRunOf } from './delete-tenant.ts'

const ROWS_AT_ONCE = 5000
const NODES_AT_ONCE = 500

/**
 * Reconciler, over all tenants, safe with any number of workers: removes the data of deleted tenants and then the tenants. Files first,
 * then rows in small transactions; the last transaction removes the remaining rows and the tenant. An interrupted pass continues later.
 * Users remain, except service accounts, because they may belong to other tenants. Files in another artifact store remain.
 * @returns number of removed tenants
 */
export async function purgeDeletedTenants(ctx: SystemCtx, store: ArtifactStore): Promise<number> {
  authorize(ctx, tenantPermissions.purge)
  let purged = 0
  for (const tenant of await ctx.db.select().from(tenants).where(isNotNull(tenants.deletedAt)).orderBy(tenants.id)) {
    // A worker may claim a run while the tenant is being suspended.
    if ((await ctx.db.$count(jobRuns, isActiveRunOf(tenant.id))) > 0) continue
    try {
      await removeAllRuns(ctx, store, tenant)
      await removeNodes(ctx.db, tenant)
      await removeInBatches(ctx.db, 'audit_entries', tenant)
      await removeTenant(ctx, tenant)
      purged++
    } catch (error) {
      ctx.log.error({ err: error, tenantId: tenant.id }, 'cannot delete a tenant; continuing with other tenants')
    }
  }
  return purged
}

/** Nodes with everything that belongs to them. The heartbeat history has no foreign key. */
async function removeNodes(db: Db, { id }: Tenant): Promise<void> {
  for (;;) {
    const { rowCount } = await db.execute(sql`
      with removed as (
        delete from compute_nodes where id = any(array(select id from compute_nodes where tenant_id = ${id} limit ${NODES_AT_ONCE}))
        returning id),
      history as (delete from agent_heartbeat_history where node_id in (select id from removed))
      select from removed`)
    if (rowCount === 0) return
  }
}

async function removeInBatches(db: Db, table: string, { id }: Tenant): Promise<void> {
  const name = sql.identifier(table)
  for (;;) {
    const { rowCount } = await db.execute(
      sql`delete from ${name} where ctid = any(array(select ctid from ${name} where tenant_id = ${id} limit ${ROWS_AT_ONCE}))`,
    )
    if ((rowCount ?? 0) < ROWS_AT_ONCE) return
  }
}

async function removeTenant(ctx: SystemCtx, tenant: Tenant): Promise<void> {
  await ctx.db.transaction(async (tx) => {
    await tx.execute(
      sql`delete from users using members where members.user_id = users.id and members.tenant_id = ${tenant.id} and users.is_service_account`,
    )
    for (const table of await tablesOfTenants(tx))
      await tx.execute(sql`delete from ${sql.identifier(table)} where tenant_id = ${tenant.id}`)
    await tx.delete(tenants).where(eq(tenants.id, tenant.id))
    await audit(tx, { ...ctx, tenantId: null }, tenantAudit.purge, tenant)
  })
}

/** Tables with a column `tenant_id`, each before the tables to which its foreign keys without ON DELETE point. */
async function tablesOfTenants(tx: Tx): Promise<string[]> {
  const { rows } = await tx.execute<{ name: string; targets: string[] }>(sql`
    select c.relname as name, array(
      select f.confrelid::regclass::text from pg_constraint f
      where f.conrelid = c.oid and f.contype = 'f' and f.confdeltype = 'a' and f.confrelid <> c.oid) as targets
    from pg_class c join pg_attribute a on a.attrelid = c.oid and a.attname = 'tenant_id' and not a.attisdropped
    where c.relnamespace = 'public'::regnamespace and c.relkind in ('r', 'p') and not c.relispartition
    order by c.relname`)
  const ordered: string[] = []
  const remaining = new Map(rows.map(({ name, targets }) => [name, targets]))
  while (remaining.size > 0) {
    const targets = new Set([...remaining.values()].flat())
    const next = [...remaining.keys()].filter((name) => !targets.has(name))
    if (next.length === 0) throw new Error(`foreign keys form a cycle: ${[...remaining.keys()].join(', ')}`)
    for (const name of next) remaining.delete(name)
    ordered.push(...next)
  }
  return ordered
}
