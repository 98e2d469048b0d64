import { eq, sql } from 'drizzle-orm'
import type { Db } from '../../kernel/db/client.ts'
import { type DeviceAuthorization, deviceAuthorizations } from '../tables.ts'
import { hashToken } from '../tokens/make-token.ts'

/** States of RFC 8628: the client goes on polling while PENDING or SLOW_DOWN, in the latter case 5 s less often. */
export type DeviceSignInState =
  | { status: 'PENDING' | 'SLOW_DOWN' | 'DENIED' | 'EXPIRED' }
  | { status: 'APPROVED'; authorization: DeviceAuthorization & { userId: string; approvedTenantId: string; role: string } }

/** Seconds by which the interval grows with each poll that comes too early. */
const SLOW_DOWN_S = 5
/** A timer of the client that fires a little early is no violation. */
const TOLERANCE_S = 0.5

/** The state of a sign-in. A decided one is returned once: it is deleted, so that its code works once. */
export async function pollDeviceSignIn(db: Db, deviceCode: string): Promise<DeviceSignInState> {
  return db.transaction(async (tx) => {
    const [found] = await tx
      .select({
        authorization: deviceAuthorizations,
        isExpired: sql<boolean>`${deviceAuthorizations.expiresAt} <= now()`,
        isEarly: sql<boolean>`coalesce(${deviceAuthorizations.lastPolledAt}
          + make_interval(secs => ${deviceAuthorizations.intervalSeconds} - ${TOLERANCE_S}::double precision) > now(), false)`,
      })
      .from(deviceAuthorizations)
      .where(eq(deviceAuthorizations.deviceCodeHash, hashToken(deviceCode)))
      .for('update')
    if (!found) return { status: 'EXPIRED' }
    const { authorization, isExpired, isEarly } = found
    const isThis = eq(deviceAuthorizations.id, authorization.id)
    if (isExpired || authorization.decidedAt) {
      await tx.delete(deviceAuthorizations).where(isThis)
      if (isExpired) return { status: 'EXPIRED' }
      const { isApproved, userId, approvedTenantId, role } = authorization
      return isApproved && userId && approvedTenantId && role
        ? { status: 'APPROVED', authorization: { ...authorization, userId, approvedTenantId, role } }
        : { status: 'DENIED' }
    }
    const intervalSeconds = authorization.intervalSeconds + (isEarly ? SLOW_DOWN_S : 0)
    await tx.update(deviceAuthorizations).set({ lastPolledAt: sql`now()`, intervalSeconds }).where(isThis)
    return { status: isEarly ? 'SLOW_DOWN' : 'PENDING' }
  })
}
