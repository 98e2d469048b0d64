import { audit, defineAuditActions, sealAuditEntries } from '@muster/core/audit'
import { inTransaction } from '@muster/core/context'
import { testRuntime } from '@muster/core/testing'

const { append } = defineAuditActions('bench', ['append'])
const DETAILS = { from: 'a value', to: 'another value', reason: 'a reason of usual length for a change' }

/** Appends to the audit log of a new tenant, and to a plain table with one index; each row in its own transaction. */
export async function createAppends(serverUrl: string) {
  process.env.TEST_DATABASE_URL = serverUrl
  const test = await testRuntime()
  const { operator: ctx } = await test.given.tenant()
  await test.asOwner(
    `create table plain (id uuid primary key default gen_random_uuid(), tenant_id uuid, text text, created_at timestamptz default now());
     grant select, insert on plain to public`,
  )
  // The entries of the fixture.
  await sealAuditEntries(test.runtime)
  let appended = 0
  return {
    async toAuditLog(count: number): Promise<void> {
      for (let i = 0; i < count; i++)
        await inTransaction(ctx, (tx, ctx) => audit(tx, ctx, append, { id: ctx.tenantId, name: 'object' }, DETAILS))
      appended += count
    },
    async toPlainTable(count: number): Promise<void> {
      const text = JSON.stringify({ ...DETAILS, name: 'object', actor: ctx.actor.name, action: append.name })
      for (let i = 0; i < count; i++)
        await inTransaction(ctx, (tx) => tx.execute(`insert into plain (tenant_id, text) values ('${ctx.tenantId}', '${text}')`))
    },
    /** Adds the appended entries to the chain. @throws Error when some are left */
    async seal(): Promise<void> {
      const sealed = await sealAuditEntries(test.runtime)
      if (sealed !== appended) throw new Error(`${sealed} of ${appended} entries were sealed`)
      appended = 0
    },
    close: test.close,
  }
}
