import { and, eq, sql } from 'drizzle-orm'
import { z } from 'zod'
import { audit } from '../../audit/index.ts'
import { type Ctx, inTransaction, type Tx } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/client.ts'
import { Conflict, Forbidden, NotFound, parseInput } from '../../kernel/errors.ts'
import { Id, IdInput, singleLineText } from '../../kernel/input.ts'
import { passkeyAudit } from '../audit-actions.ts'
import { type IdentityProvider, passkeys, users } from '../tables.ts'
import { findSignInMethods, removalBlockedReason } from './sign-in-methods.ts'

export const RenamePasskeyInput = z.object({ id: Id, name: singleLineText(100) })

/** ID of the user of a session. @throws Forbidden for API tokens, which do not sign in */
export function sessionUser({ actor }: Pick<Ctx, 'actor'>): string {
  if (actor.kind !== 'user') throw new Forbidden('Only users with a session can change how they sign in.')
  return actor.id
}

/** Locks the user, so that concurrent removals cannot remove the last two ways to sign in. */
export const lockUser = (tx: Tx, userId: string) => tx.select().from(users).where(eq(users.id, userId)).for('no key update')

/** Records a new passkey of the caller in the audit log. The caller's `db` must use the system role. */
export async function recordPasskeyAdded(caller: Ctx, input: z.input<typeof IdInput>): Promise<{ id: string }> {
  const userId = sessionUser(caller)
  const { id } = parseInput(IdInput, input)
  return inTransaction(caller, async (tx, caller) => {
    const [passkey] = await tx.select().from(passkeys).where(isOwn(userId, id))
    if (!passkey) throw notFound(id)
    const { name, deviceType, aaguid } = passkey
    await audit(tx, caller, passkeyAudit.add, { id, name }, { deviceType, aaguid })
    return passkey
  })
}

/** Records the time of a sign-in with the passkey. */
export async function recordPasskeyUse(db: Db, credentialId: string): Promise<void> {
  await db.update(passkeys).set({ lastUsedAt: sql`now()` }).where(eq(passkeys.credentialID, credentialId))
}

/** Renames a passkey of the caller. @throws NotFound */
export async function renamePasskey(caller: Ctx, input: z.input<typeof RenamePasskeyInput>): Promise<{ id: string }> {
  const userId = sessionUser(caller)
  const { id, name } = parseInput(RenamePasskeyInput, input)
  return inTransaction(caller, async (tx, caller) => {
    const [passkey] = await tx.update(passkeys).set({ name }).where(isOwn(userId, id)).returning()
    if (!passkey) throw notFound(id)
    await audit(tx, caller, passkeyAudit.rename, passkey)
    return passkey
  })
}

/**
 * Removes a passkey of the caller: it no longer signs in. Sessions stay.
 * @throws NotFound; Conflict it is the last way to sign in
 */
export async function removePasskey(
  caller: Ctx,
  input: z.input<typeof IdInput>,
  providers: readonly IdentityProvider[],
): Promise<{ id: string }> {
  const userId = sessionUser(caller)
  const { id } = parseInput(IdInput, input)
  return inTransaction(caller, async (tx, caller) => {
    await lockUser(tx, userId)
    const methods = (await findSignInMethods(tx, [userId])).get(userId)!
    const [passkey] = await tx.delete(passkeys).where(isOwn(userId, id)).returning()
    if (!passkey) throw notFound(id)
    const blockedReason = removalBlockedReason(methods, 'passkey', providers)
    if (blockedReason) throw new Conflict(blockedReason)
    await audit(tx, caller, passkeyAudit.remove, passkey)
    return passkey
  })
}

const isOwn = (userId: string, id: string) => and(eq(passkeys.id, id), eq(passkeys.userId, userId))
const notFound = (id: string) => new NotFound(`You have no passkey with the ID ${id}.`)
