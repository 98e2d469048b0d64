import { randomBytes } from 'node:crypto'
import { hashToken } from '@muster/core/access'
import type { Db } from '@muster/core/db'
import { schema } from '@muster/core/registry'

/** Inserts a session of the user, as a sign-in does. */
export async function insertSession(
  db: Db,
  userId: string,
  { authenticatedAt = new Date() }: { authenticatedAt?: Date } = {},
): Promise<{ id: string; token: string }> {
  const token = randomBytes(24).toString('hex')
  const [row] = await db
    .insert(schema.sessions)
    .values({ isActive: true, userId, token: hashToken(token), expiresAt: new Date(Date.now() + 3600_000), authenticatedAt })
    .returning({ id: schema.sessions.id })
  return { id: row!.id, token }
}

/** Inserts an unusable passkey of the user. */
export async function insertPasskey(db: Db, userId: string): Promise<{ id: string }> {
  const [row] = await db
    .insert(schema.passkeys)
    .values({
      userId,
      name: 'security key',
      credentialID: randomBytes(16).toString('base64url'),
      publicKey: 'none',
      counter: 0,
      deviceType: 'singleDevice',
      backedUp: false,
    })
    .returning({ id: schema.passkeys.id })
  return row!
}
