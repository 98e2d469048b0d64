import {
  createApiToken,
  type DeviceAuthorization,
  decideDeviceSignIn,
  findDeviceSignIn,
  findMemberships,
  pollDeviceSignIn,
  startDeviceSignIn,
  type TokenPolicy,
} from '@muster/core/access'
import { dryRun, type Origin, tenantCtx } from '@muster/core/context'
import { Forbidden, InvalidInput, Unauthenticated } from '@muster/core/errors'
import { authorityOf } from '@muster/core/permissions'
import { type Ctx, type Runtime, schema } from '@muster/core/registry'
import { eq } from 'drizzle-orm'
import type { RequestFacts } from '../http/request-facts.ts'
import type { Caller, CallerContext } from './caller.ts'
import { TENANT_HEADER } from './choose-tenant.ts'
import type { SignInParts } from './parts.ts'

const { users } = schema

type Context = RequestFacts & CallerContext & { origin: Origin; deps: { runtime: Runtime; tokenPolicy?: TokenPolicy } }

type Started = { tokenName: string; clientName: string; role?: string | null; isInstallationAdmin?: boolean | null }
export type StartDevice = Started & { tenant?: string | null; expiresInSeconds?: number | null }
/** A sign-in that waits for a decision, and the role and tenant that its token would have. */
export type OpenDeviceSignIn = { authorization: DeviceAuthorization; role: string; tenantId: string; isSameAddress: boolean }

/** Sign-in of programs on machines without a browser, which a person approves in the console (RFC 8628). */
export function createDeviceSignIn({ db, throttle, addressOf, callers }: SignInParts) {
  /** The caller in the tenant that the program wants. @throws Forbidden the caller is no member of it */
  async function callerFor(context: Context, tenantName: string | null): Promise<Caller> {
    const { caller, headers } = context
    if (!caller?.sessionToken)
      throw new InvalidInput([{ path: '', message: 'an API token cannot approve a sign-in; sign in as a user' }])
    if (!tenantName) return caller
    const wanted = new Headers(headers)
    wanted.set(TENANT_HEADER, tenantName)
    const found = await callers.read(caller.sessionToken, wanted)
    if (!found) throw new Unauthenticated('The session has ended. Sign in again.')
    return found
  }

  /** The waiting sign-in with this code. Wrong codes are limited per user. */
  async function find(context: Context, userCode: string): Promise<{ authorization: DeviceAuthorization; caller: Caller }> {
    const userId = context.caller?.actor.id ?? ''
    await throttle.attempt('device', addressOf(context), userId)
    const authorization = await findDeviceSignIn(db, userCode)
    await throttle.succeeded('device', userId)
    return { authorization, caller: await callerFor(context, authorization.tenantName) }
  }

  /** An owner's token is an admin's, unless asked for otherwise. */
  const roleOf = ({ role }: DeviceAuthorization, { actor }: Caller) => role ?? (actor.role === 'owner' ? 'admin' : actor.role)

  const tokenOf = ({ tokenName, isInstallationAdmin, expiresInSeconds }: DeviceAuthorization, role: string) => ({
    name: tokenName,
    role,
    isInstallationAdmin,
    expiresInSeconds,
  })

  async function decide(context: Context, userCode: string, isApproved: boolean): Promise<void> {
    const { authorization, caller } = await find(context, userCode)
    const role = roleOf(authorization, caller)
    const ctx: Ctx = {
      ...context.ctx,
      ...tenantCtx(context.deps.runtime, caller.tenantId, caller.actor),
      identityConfirmedUntil: caller.identityConfirmedUntil,
    }
    // Rejects what the caller may not grant before the decision is stored.
    if (isApproved)
      await dryRun({ ...ctx, attempt: undefined }, (_tx, ctx) =>
        createApiToken(ctx, tokenOf(authorization, role), context.deps.tokenPolicy),
      )
    await decideDeviceSignIn({ ...ctx, db: ctx.systemDb }, { userCode, isApproved, role })
  }

  return {
    async startDeviceSignIn(context: Context, { tenant, ...input }: StartDevice) {
      const clientAddress = addressOf(context)
      await throttle.attempt('device-start', clientAddress)
      return startDeviceSignIn(db, { ...input, clientAddress, tenantName: tenant })
    },

    /** @throws NotFound, Unavailable, Forbidden */
    async findDeviceSignIn(context: Context, userCode: string): Promise<OpenDeviceSignIn> {
      const { authorization, caller } = await find(context, userCode)
      return {
        authorization,
        role: roleOf(authorization, caller),
        tenantId: caller.tenantId,
        isSameAddress: authorization.clientAddress === addressOf(context),
      }
    },

    approveDeviceSignIn: (context: Context, userCode: string) => decide(context, userCode, true),
    denyDeviceSignIn: (context: Context, userCode: string) => decide(context, userCode, false),

    /** The state of a sign-in; once with the secret of the new token. @throws Unavailable, Forbidden */
    async pollDeviceSignIn(context: Context, deviceCode: string) {
      const state = await pollDeviceSignIn(db, deviceCode)
      if (state.status === 'EXPIRED') await throttle.attempt('device-poll', addressOf(context))
      if (state.status !== 'APPROVED') return { status: state.status, secret: null }
      const { authorization } = state
      const ctx = await approverCtx(context.deps.runtime, authorization)
      const { requestId, origin } = context
      const { token } = await createApiToken(
        { ...ctx, requestId, origin },
        tokenOf(authorization, authorization.role),
        context.deps.tokenPolicy,
      )
      return { status: state.status, secret: token }
    },
  }

  /** The person who approved, with the permissions that they have now. */
  async function approverCtx(runtime: Runtime, { userId, approvedTenantId }: { userId: string; approvedTenantId: string }) {
    const membership = (await findMemberships(db, userId, 'any')).find(({ tenantId }) => tenantId === approvedTenantId)
    const [user] = await db.select().from(users).where(eq(users.id, userId))
    if (!membership || !user) throw new Forbidden('The person who approved is no longer a member. Start again.')
    const { role, permissions, grants } = membership.authority
    const { id, name, isInstallationAdmin } = user
    const authority = authorityOf({ name: role, permissions }, { isInstallationAdmin, grants })
    return tenantCtx(runtime, approvedTenantId, { kind: 'user', id, name, ...authority })
  }
}
