import { eq } from 'drizzle-orm'
import type { Db, Tx } from '../../kernel/db/client.ts'
import { twoFactors } from '../tables.ts'

/** Replaces the encrypted secrets of authenticator apps and the encrypted recovery codes with the results of `rewrite`. */
export async function rewriteSecondFactors(db: Db | Tx, rewrite: (encrypted: string) => Promise<string>): Promise<void> {
  for (const { id, secret, backupCodes } of await db.select().from(twoFactors).for('update'))
    await db
      .update(twoFactors)
      .set({ secret: await rewrite(secret), backupCodes: await rewrite(backupCodes) })
      .where(eq(twoFactors.id, id))
}
