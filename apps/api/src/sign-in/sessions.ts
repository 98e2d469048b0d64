import { accessChanged, deleteSessions, sessionAudit, switchTenant } from '@muster/core/access'
import { audit } from '@muster/core/audit'
import { InvalidInput, NotFound } from '@muster/core/errors'
import { type Ctx, schema } from '@muster/core/registry'
import { and, eq, ne, type SQL } from 'drizzle-orm'
import type { RequestFacts } from '../http/request-facts.ts'
import type { Caller, CallerContext } from './caller.ts'
import type { SignInParts } from './parts.ts'

const { sessions } = schema

/** Ends sessions of the caller's user, and the streams of these sessions. @returns how many */
async function endSessions(ctx: Ctx, userId: string, condition: SQL): Promise<number> {
  const ended = await deleteSessions(ctx.systemDb, and(eq(sessions.userId, userId), condition)!)
  if (ended > 0) ctx.notify(accessChanged({ id: userId, tenantId: ctx.tenantId }))
  return ended
}

/** Changes of a user's sessions. `signOutUrl`: see `createExternalSignIn`. */
export function createSessionChanges({
  internals,
  callers,
  route,
  changeSignIn,
  signOutUrl,
}: SignInParts & { signOutUrl(facts: RequestFacts): Promise<string | null> }) {
  return {
    /** `continueUrl`: where the browser ends its session at the provider; null when it did not sign in there. */
    async signOut({
      caller,
      ctx,
      ...facts
    }: RequestFacts & CallerContext): Promise<{ wasSignedIn: boolean; continueUrl: string | null }> {
      const continueUrl = await signOutUrl(facts)
      const { sessionToken } = caller ?? {}
      const end = async () => {
        if (facts.headers.has('cookie')) await route(facts, '/sign-out', {}, sessionToken ? { session_token: sessionToken } : {})
        if (sessionToken) await (await internals).internalAdapter.deleteSession(sessionToken)
      }
      if (!caller || !sessionToken) {
        await end()
        return { wasSignedIn: false, continueUrl }
      }
      await changeSignIn(ctx, async (tx, ctx) => {
        await end()
        await audit(tx, ctx, sessionAudit.end, { id: caller.sessionId, name: caller.actor.name })
      })
      callers.clearCache()
      ctx.notify(accessChanged({ id: caller.actor.id, tenantId: caller.tenantId }))
      return { wasSignedIn: true, continueUrl }
    },

    /** Ends one session of the user. @throws NotFound */
    async endSession({ ctx, caller }: CallerContext, id: string): Promise<void> {
      const userId = caller?.actor.kind === 'user' ? caller.actor.id : null
      if (!userId || (await endSessions(ctx, userId, eq(sessions.id, id))) === 0)
        throw new NotFound(`There is no session with the ID ${id}.`)
      callers.clearCache()
    },

    /** Ends all other sessions of the user. @returns how many */
    async endOtherSessions({ ctx, caller }: CallerContext): Promise<number> {
      const count = caller?.sessionId ? await endSessions(ctx, caller.actor.id, ne(sessions.id, caller.sessionId)) : 0
      callers.clearCache()
      return count
    },

    /** Changes the tenant in which the session works. @throws Forbidden; InvalidInput for an API token */
    async switchTenant({ caller, ctx, headers }: RequestFacts & CallerContext, tenantId: string): Promise<Caller> {
      if (!caller?.sessionToken || !caller.sessionId)
        throw new InvalidInput([{ path: '', message: 'an API token belongs to one tenant; use a token of the other tenant' }])
      await switchTenant({ ...ctx, db: ctx.systemDb }, { sessionId: caller.sessionId, tenantId })
      callers.clearCache()
      return (await callers.read(caller.sessionToken, headers)) ?? caller
    },
  }
}
