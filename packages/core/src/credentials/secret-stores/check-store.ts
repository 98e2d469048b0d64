import { and, eq } from 'drizzle-orm'
import type { Ctx, Tx } from '../../kernel/context.ts'
import { visibleTo } from '../../kernel/db/rows.ts'
import { InvalidInput } from '../../kernel/errors.ts'
import { secretStores } from '../tables.ts'

/**
 * Checks that the secret store belongs to this tenant, and locks it until the transaction ends.
 * @throws InvalidInput at secretStoreId
 */
export async function checkStore(tx: Tx, ctx: Ctx, id: string): Promise<void> {
  const scope = and(visibleTo(ctx, secretStores), eq(secretStores.id, id))
  const [store] = await tx.select({ id: secretStores.id }).from(secretStores).where(scope).for('key share')
  if (!store) throw new InvalidInput([{ path: 'secretStoreId', message: `There is no secret store ${id}.` }])
}
