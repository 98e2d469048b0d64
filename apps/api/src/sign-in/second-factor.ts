import { activateSession, findChallengeProvider, recordSessionStart, totpAudit } from '@muster/core/access'
import { type AuditAction, audit } from '@muster/core/audit'
import { Conflict, InvalidInput, Unauthenticated } from '@muster/core/errors'
import { schema } from '@muster/core/registry'
import { and, eq } from 'drizzle-orm'
import type { RequestFacts } from '../http/request-facts.ts'
import type { Caller, CallerContext, SignedIn } from './caller.ts'
import type { SignInParts } from './parts.ts'

const { users } = schema

/** A code is valid for 30 s, and better-auth also accepts the previous and the next one. */
const CODE_VALID_S = 120

type CallerFacts = RequestFacts & CallerContext
type WithPassword = { currentPassword?: string | null }

/** Codes of authenticator apps (TOTP) and recovery codes. better-auth stores the secret encrypted and checks codes. */
export function createSecondFactor({
  db,
  route,
  cookieOf,
  signedIn,
  discardSession,
  changeSignIn,
  throttle,
  addressOf,
  checkCurrentPassword,
  callers,
}: SignInParts) {
  async function sessionOf(context: CallerFacts): Promise<{ caller: Caller; session_token: string }> {
    const { caller } = context
    if (!caller?.sessionToken)
      throw new InvalidInput([{ path: '', message: 'an API token has no second factor; sign in as a user' }])
    return { caller, session_token: caller.sessionToken }
  }

  /** Calls a route of the signed-in user after checking the password. @returns its JSON */
  async function change<T>(
    context: CallerFacts,
    action: AuditAction,
    path: string,
    { currentPassword }: WithPassword,
  ): Promise<{ json: T; session: SignedIn }> {
    const { caller } = await sessionOf(context)
    await checkCurrentPassword(context, caller, currentPassword)
    const changed = await recorded(context, action, path, currentPassword ? { password: currentPassword } : {})
    if (!changed) throw new Conflict('Two-factor authentication was changed in the meantime. Reload the page and try again.')
    return { json: (await changed.response.json()) as T, session: changed.session }
  }

  /**
   * Calls a route that changes the second factor, in one transaction with the audit entry. better-auth replaces the session when the
   * second factor is turned on or off. @returns null when better-auth rejects the change
   */
  async function recorded(context: CallerFacts, action: AuditAction, path: string, body: object) {
    const { caller, session_token } = await sessionOf(context)
    const changed = await changeSignIn(context.ctx, async (tx, ctx) => {
      const response = await route(context, path, body, { session_token })
      if (!response.ok) return null
      const newToken = cookieOf(response, 'session_token')
      if (newToken) {
        await recordSessionStart(tx, newToken, { provider: caller.provider, activeTenantId: caller.tenantId })
        await activateSession(tx, newToken)
      }
      await audit(tx, ctx, action, caller.actor)
      return { response, sessionToken: newToken ?? session_token }
    })
    callers.clearCache()
    if (!changed) return null
    const { response, sessionToken } = changed
    return { response, session: { viewer: (await callers.read(sessionToken, context.headers)) ?? caller, sessionToken } }
  }

  return {
    /** Second step of a sign-in: `code` is a code of the app, or a recovery code. */
    async verifySecondFactor(facts: RequestFacts, { challenge, code }: { challenge: string; code: string }): Promise<SignedIn> {
      await throttle.attempt('challenge', addressOf(facts), challenge)
      const given = code.replace(/\s/g, '')
      const isTotp = /^\d{6}$/.test(given)
      const path = isTotp ? '/two-factor/verify-totp' : '/two-factor/verify-backup-code'
      const response = await route(facts, path, { code: given }, { two_factor: challenge })
      if (response.status === 429) throw new Unauthenticated('Too many wrong codes for this user. Sign in again in 15 minutes.')
      const session = await signedIn(
        facts,
        response,
        'The code is wrong, or the sign-in is older than ten minutes. Sign in again.',
        response.ok ? await findChallengeProvider(db, challenge) : null,
      )
      if (isTotp && !(await throttle.isFirstUse('totp', `${session.viewer.actor.id} ${given}`, CODE_VALID_S))) {
        await discardSession(facts, session.sessionToken)
        throw new Unauthenticated('This code was already used. Sign in again with the next code.')
      }
      return session
    },

    /** Creates a secret for an authenticator app. It takes effect with the first code, see `confirmTotp`. */
    async startTotp(context: CallerFacts, input: WithPassword): Promise<{ uri: string; recoveryCodes: string[] }> {
      const { caller } = await sessionOf(context)
      const isOn = (await db.$count(users, and(eq(users.id, caller.actor.id), users.twoFactorEnabled))) > 0
      if (isOn) throw new Conflict('An authenticator app is already set up. Remove it first.')
      const { json } = await change<{ totpURI: string; backupCodes: string[] }>(
        context,
        totpAudit.start,
        '/two-factor/enable',
        input,
      )
      return { uri: json.totpURI, recoveryCodes: json.backupCodes }
    },

    /** Turns the second factor on. @returns the session, which has a new token */
    async confirmTotp(context: CallerFacts, { code }: { code: string }): Promise<SignedIn> {
      const { caller } = await sessionOf(context)
      await throttle.attempt('totp-setup', addressOf(context), caller.actor.id)
      const changed = await recorded(context, totpAudit.confirm, '/two-factor/verify-totp', { code: code.replace(/\s/g, '') })
      if (!changed) throw new InvalidInput([{ path: 'input.code', message: 'is not the current code of the app' }])
      await throttle.succeeded('totp-setup', caller.actor.id)
      return changed.session
    },

    /** Turns the second factor off. */
    async removeTotp(context: CallerFacts, input: WithPassword): Promise<SignedIn> {
      return (await change(context, totpAudit.remove, '/two-factor/disable', input)).session
    },

    /** Replaces the recovery codes. */
    async replaceRecoveryCodes(context: CallerFacts, input: WithPassword): Promise<string[]> {
      const { json } = await change<{ backupCodes: string[] }>(
        context,
        totpAudit.replaceRecoveryCodes,
        '/two-factor/generate-backup-codes',
        input,
      )
      return json.backupCodes
    },
  }
}
