import { and, eq, sql } from 'drizzle-orm'
import type { z } from 'zod'
import { audit, authorize, type Ctx, inTransaction } from '../context.ts'
import { visibleTo, whyNoRow } from '../db/rows.ts'
import { parseInput } from '../errors.ts'
import { ById } from '../input.ts'
import { whyNotDeleteStore } from './policy.ts'
import { credentials, secretStores } from './tables.ts'

/** Forget a secret store that no credential uses. @throws NotFound, Conflict naming the credentials */
export async function deleteSecretStore(ctx: Ctx, input: z.input<typeof ById>): Promise<{ id: string }> {
  authorize(ctx, 'credential:write')
  const { id } = parseInput(ById, input)
  return inTransaction(ctx, async (tx) => {
    const mine = and(visibleTo(ctx, secretStores), eq(secretStores.id, id))
    // Who gives it to a credential waits for this row.
    await tx.select({ id: secretStores.id }).from(secretStores).where(mine).for('update')
    const [store] = await tx
      .delete(secretStores)
      .where(and(mine, sql`not exists (select from ${credentials} c where c.secret_store_id = ${id})`))
      .returning()
    if (!store) {
      const users = await tx
        .select({ name: credentials.name })
        .from(credentials)
        .where(and(visibleTo(ctx, credentials), eq(credentials.secretStoreId, id)))
      throw await whyNoRow(tx, ctx, secretStores, id, 'secret store', (row) =>
        whyNotDeleteStore(
          row,
          users.map(({ name }) => name),
        ),
      )
    }
    await audit(tx, ctx, 'secret_store.delete', store)
    return { id }
  })
}
