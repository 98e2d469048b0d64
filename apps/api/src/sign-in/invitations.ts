import { acceptInvitation, findInvitationByToken, INVITATION_INVALID, switchTenant } from '@muster/core/access'
import { InvalidInput, NotFound, Unauthenticated } from '@muster/core/errors'
import type { RequestFacts } from '../http/request-facts.ts'
import type { CallerContext, SignedIn } from './caller.ts'
import type { SignInParts } from './parts.ts'
import { checkPassword, WRONG_PASSWORD } from './passwords.ts'
import { type AuditFacts, requestCtx } from './request-ctx.ts'

type Acceptance = { token: string; name?: string | null; password?: string | null }

/** Acceptance of invitations, with or without a session. */
export function createInvitationAcceptance({
  db,
  internals,
  callers,
  throttle,
  addressOf,
  route,
  cookieOf,
  signedIn,
  discardSession,
}: SignInParts) {
  async function newUserOf(name: string, password: string): Promise<{ name: string; passwordHash: string }> {
    checkPassword(password)
    return { name, passwordHash: await (await internals).password.hash(password) }
  }

  return {
    /**
     * Makes the holder of an invitation a member, and signs in. Without a session, the password is the one of the existing account, or
     * the first one of a new user.
     * @throws NotFound, Conflict, Forbidden, InvalidInput; Unauthenticated the password of the account is wrong
     */
    async acceptInvitation(context: RequestFacts & CallerContext & AuditFacts, input: Acceptance): Promise<SignedIn> {
      const { caller, headers } = context
      const { token, password } = input
      await throttle.attempt('invitation', addressOf(context))
      const muster = requestCtx(context)
      if (caller?.sessionToken && caller.sessionId) {
        const { member } = await acceptInvitation(muster, { token, userId: caller.actor.id, newUser: null })
        await switchTenant({ ...muster, actor: caller.actor }, { sessionId: caller.sessionId, tenantId: member.tenantId })
        callers.clearCache()
        return { viewer: (await callers.read(caller.sessionToken, headers))!, sessionToken: caller.sessionToken }
      }
      const invitation = await findInvitationByToken(db, token)
      if (!invitation) throw new NotFound(INVITATION_INVALID)
      if (!password) throw new InvalidInput([{ path: 'input.password', message: 'is missing' }])
      const { email, hasAccount } = invitation
      await throttle.attempt('password', addressOf(context), email)
      const signIn = () => route(context, '/sign-in/email', { email, password })
      if (!hasAccount) {
        if (!input.name) throw new InvalidInput([{ path: 'input.name', message: 'is missing' }])
        await acceptInvitation(muster, { token, userId: null, newUser: await newUserOf(input.name, password) })
        return signedIn(context, await signIn(), WRONG_PASSWORD)
      }
      const response = await signIn()
      const account = response.ok ? await (await internals).internalAdapter.findUserByEmail(email) : null
      if (!account) throw new Unauthenticated(WRONG_PASSWORD)
      await throttle.succeeded('password', email, addressOf(context))
      if (cookieOf(response, 'two_factor'))
        throw new Unauthenticated('This account uses an authenticator app. Sign in first, then open the invitation again.')
      await acceptInvitation(muster, { token, userId: account.user.id, newUser: null }).catch(async (error: unknown) => {
        await discardSession(context, cookieOf(response, 'session_token')!)
        throw error
      })
      return signedIn(context, response, WRONG_PASSWORD)
    },
  }
}
