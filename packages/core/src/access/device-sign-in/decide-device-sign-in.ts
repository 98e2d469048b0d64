import { and, eq, gt, isNull, sql } from 'drizzle-orm'
import { audit } from '../../audit/index.ts'
import { type Ctx, inTransaction } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/client.ts'
import { Forbidden, NotFound } from '../../kernel/errors.ts'
import { deviceSignInAudit } from '../audit-actions.ts'
import { type DeviceAuthorization, deviceAuthorizations } from '../tables.ts'
import { userCodeHash } from './start-device-sign-in.ts'

const UNKNOWN_CODE = 'This code is wrong, was already used, or is older than ten minutes. Compare it with the terminal.'

const isOpen = (userCode: string) =>
  and(
    eq(deviceAuthorizations.userCodeHash, userCodeHash(userCode)),
    isNull(deviceAuthorizations.decidedAt),
    gt(deviceAuthorizations.expiresAt, sql`now()`),
  )

/** The sign-in that waits for the person with this code. @throws NotFound */
export async function findDeviceSignIn(db: Db, userCode: string): Promise<DeviceAuthorization> {
  const [found] = await db.select().from(deviceAuthorizations).where(isOpen(userCode))
  if (!found) throw new NotFound(UNKNOWN_CODE)
  return found
}

/**
 * Approves or denies a sign-in. The program then gets a token of the caller, in the caller's tenant. The caller's `db` is that of the
 * system role.
 * @throws NotFound the code is unknown, used or expired
 */
export async function decideDeviceSignIn(
  caller: Ctx,
  { userCode, isApproved, role }: { userCode: string; isApproved: boolean; role: string },
): Promise<DeviceAuthorization> {
  const { actor } = caller
  if (actor.kind !== 'user') throw new Forbidden('Only a person with a session can approve a sign-in.')
  return inTransaction(caller, async (tx, caller) => {
    const [decided] = await tx
      .update(deviceAuthorizations)
      .set({ decidedAt: sql`now()`, isApproved, role, userId: actor.id, approvedTenantId: caller.tenantId })
      .where(isOpen(userCode))
      .returning()
    if (!decided) throw new NotFound(UNKNOWN_CODE)
    const { id, clientName, clientAddress, tokenName } = decided
    const action = isApproved ? deviceSignInAudit.approve : deviceSignInAudit.deny
    await audit(tx, caller, action, { id, name: clientName }, { clientAddress, tokenName, role })
    return decided
  })
}
