import { and, eq, sql } from 'drizzle-orm'
import type { z } from 'zod'
import { audit } from '../../audit/index.ts'
import { authorize, type Ctx, inTransaction } from '../../kernel/context.ts'
import { notFoundOrConflict, visibleTo } from '../../kernel/db/rows.ts'
import { parseInput } from '../../kernel/errors.ts'
import { IdInput } from '../../kernel/input.ts'
import { secretStoreAudit } from '../audit-actions.ts'
import { credentialPermissions } from '../permissions.ts'
import { deleteStoreBlockedReason } from '../policy.ts'
import { credentials, secretStores } from '../tables.ts'

/** Deletes a secret store that no credential uses. @throws NotFound, Conflict naming the credentials */
export async function deleteSecretStore(ctx: Ctx, input: z.input<typeof IdInput>): Promise<{ id: string }> {
  authorize(ctx, credentialPermissions.write)
  const { id } = parseInput(IdInput, input)
  return inTransaction(ctx, async (tx) => {
    const scope = and(visibleTo(ctx, secretStores), eq(secretStores.id, id))
    // A transaction that assigns it to a credential waits for this lock.
    await tx.select({ id: secretStores.id }).from(secretStores).where(scope).for('update')
    const [store] = await tx
      .delete(secretStores)
      .where(and(scope, sql`not exists (select from ${credentials} c where c.secret_store_id = ${id})`))
      .returning()
    if (!store) {
      const users = await tx
        .select({ name: credentials.name })
        .from(credentials)
        .where(and(visibleTo(ctx, credentials), eq(credentials.secretStoreId, id)))
      throw await notFoundOrConflict(tx, ctx, secretStores, id, 'secret store', (row) =>
        deleteStoreBlockedReason(
          row,
          users.map(({ name }) => name),
        ),
      )
    }
    await audit(tx, ctx, secretStoreAudit.delete, store)
    return { id }
  })
}
