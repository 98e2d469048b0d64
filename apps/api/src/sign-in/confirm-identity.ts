import { accessChanged, type IdentityProvider, recordIdentityProof, sessionAudit } from '@muster/core/access'
import { audit } from '@muster/core/audit'
import { Conflict, InvalidInput } from '@muster/core/errors'
import { schema } from '@muster/core/registry'
import { and, eq } from 'drizzle-orm'
import type { RequestFacts } from '../http/request-facts.ts'
import type { Caller, CallerContext } from './caller.ts'
import type { CheckLdap, LdapPassword } from './check-ldap.ts'
import { findUserOfIdentity } from './identity.ts'
import type { SignInParts } from './parts.ts'
import type { createPasskeys, PasskeyAnswer } from './passkeys.ts'

const { users } = schema

/** A code is valid for 30 s, and better-auth accepts the one before and after. */
const CODE_VALID_S = 120

/** Exactly one of them. */
export type IdentityProof = {
  password?: string | null
  code?: string | null
  passkey?: PasskeyAnswer | null
  ldap?: LdapPassword | null
}
type Context = RequestFacts & CallerContext
type SessionCaller = Caller & { sessionToken: string; sessionId: string }

type Parts = SignInParts & Pick<ReturnType<typeof createPasskeys>, 'isOwnPasskey'> & { checkLdap: CheckLdap }

/** Proofs of identity during a session, for tenants that ask for them. */
export function createIdentityConfirmation(parts: Parts) {
  const { db, route, changeSignIn, throttle, addressOf, isCurrentPassword, isOwnPasskey, callers, checkLdap } = parts

  function sessionOf({ caller }: CallerContext): SessionCaller {
    if (!caller?.sessionToken || !caller.sessionId)
      throw new InvalidInput([{ path: '', message: 'an API token has no identity to confirm; sign in as a user' }])
    return caller as SessionCaller
  }

  async function confirmed({ ctx, headers }: Context, { sessionId, sessionToken, ...caller }: SessionCaller): Promise<Caller> {
    await changeSignIn(ctx, async (tx, ctx) => {
      await recordIdentityProof(tx, sessionId)
      await audit(tx, ctx, sessionAudit.confirm, { id: caller.actor.id, name: caller.actor.name })
    })
    callers.clearCache()
    // Other processes read the session again.
    ctx.notify(accessChanged({ id: caller.actor.id, tenantId: caller.tenantId }))
    return (await callers.read(sessionToken, headers)) ?? { sessionId, sessionToken, ...caller }
  }

  /** Of a signed-in user, so that the throttle and not better-auth limits the attempts. */
  async function isCurrentCode(context: Context, { actor, sessionToken }: SessionCaller, text: string): Promise<boolean> {
    const isOn = (await db.$count(users, and(eq(users.id, actor.id), users.twoFactorEnabled))) > 0
    if (!isOn) throw new Conflict('You have no authenticator app. Confirm your identity in another way.')
    await throttle.attempt('confirm', addressOf(context), actor.id)
    const code = text.replace(/\s/g, '')
    const facts = { ...context, responseHeaders: null }
    const response = await route(facts, '/two-factor/verify-totp', { code }, { session_token: sessionToken })
    if (!response.ok || !(await throttle.isFirstUse('totp', `${actor.id} ${code}`, CODE_VALID_S))) return false
    await throttle.succeeded('confirm', actor.id)
    return true
  }

  const isOwnIdentity = async (userId: string, provider: IdentityProvider, subject: string): Promise<boolean> =>
    (await findUserOfIdentity(db, provider, subject))?.id === userId

  return {
    isOwnIdentity,
    confirmed,
    sessionOf,

    /** Records that the user of the session proved their identity. @throws InvalidInput the proof is wrong */
    async confirmIdentity(context: Context, { password, code, passkey, ldap: entry }: IdentityProof): Promise<Caller> {
      const caller = sessionOf(context)
      if ([password, code, passkey, entry].filter((given) => given !== null && given !== undefined).length !== 1)
        throw new InvalidInput([{ path: 'input', message: 'must have exactly one of password, code, passkey and ldap' }])
      const check = async (path: string, isRight: boolean | null, message: string) => {
        if (!isRight) throw new InvalidInput([{ path: `input.${path}`, message }])
        return confirmed(context, caller)
      }
      if (typeof password === 'string')
        return check('password', await isCurrentPassword(context, caller, password), 'is not your password')
      if (typeof code === 'string')
        return check('code', await isCurrentCode(context, caller, code), 'is not the current code of your authenticator app')
      if (passkey)
        return check('passkey', await isOwnPasskey(context, caller, passkey), 'is not an answer of one of your passkeys')
      const { subject } = await checkLdap(context, entry!)
      return check('ldap', await isOwnIdentity(caller.actor.id, 'ldap', subject), 'is not your entry in the directory')
    },
  }
}
