import { and, eq } from 'drizzle-orm'
import type { Ctx, Tx } from '../../kernel/context.ts'
import { visibleTo } from '../../kernel/db/rows.ts'
import { InvalidInput } from '../../kernel/errors.ts'
import { secretStores } from '../tables.ts'

/** The secret store is one of this tenant, and stays until the transaction ends. @throws InvalidInput at secretStoreId */
export async function checkStore(tx: Tx, ctx: Ctx, id: string): Promise<void> {
  const mine = and(visibleTo(ctx, secretStores), eq(secretStores.id, id))
  const [store] = await tx.select({ id: secretStores.id }).from(secretStores).where(mine).for('key share')
  if (!store) throw new InvalidInput([{ path: 'secretStoreId', message: `There is no secret store ${id}.` }])
}
