import { eq } from 'drizzle-orm'
import type { Db } from '../../kernel/db/client.ts'
import { users } from '../tables.ts'

/** Records that the user has received a mail at the address. */
export async function confirmEmail(db: Db, userId: string): Promise<void> {
  await db.update(users).set({ emailVerified: true }).where(eq(users.id, userId))
}
