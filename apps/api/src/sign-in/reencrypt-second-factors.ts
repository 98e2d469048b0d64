import type { Db } from '@muster/core/db'
import { schema } from '@muster/core/registry'
import { symmetricDecrypt, symmetricEncrypt } from 'better-auth/crypto'
import { eq } from 'drizzle-orm'

const { twoFactors } = schema

/** Encrypts the secrets of authenticator apps and the recovery codes, which better-auth encrypted with `from`, with `to`. */
export async function reencryptSecondFactors(db: Pick<Db, 'select' | 'update'>, from: string, to: string): Promise<void> {
  const again = async (data: string) => symmetricEncrypt({ key: to, data: await symmetricDecrypt({ key: from, data }) })
  for (const { id, secret, backupCodes } of await db.select().from(twoFactors).for('update'))
    await db
      .update(twoFactors)
      .set({ secret: await again(secret), backupCodes: await again(backupCodes) })
      .where(eq(twoFactors.id, id))
}
