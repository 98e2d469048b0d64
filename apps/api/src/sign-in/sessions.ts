import { accessChanged, deleteSessions } from '@muster/core/access'
import { type Ctx, schema } from '@muster/core/registry'
import { and, eq, ne, type SQL } from 'drizzle-orm'
import type { Caller } from './caller.ts'

const { sessions } = schema

/** Ends sessions of the caller's user, and the streams of these sessions. @returns how many */
async function endSessions(ctx: Ctx, userId: string, condition: SQL): Promise<number> {
  const ended = await deleteSessions(ctx.systemDb, and(eq(sessions.userId, userId), condition)!)
  if (ended > 0) ctx.notify(accessChanged({ id: userId, tenantId: ctx.tenantId }))
  return ended
}

/** Ends one session of the user. @returns false when the user has no such session */
export const endSession = async (ctx: Ctx, userId: string, id: string): Promise<boolean> =>
  (await endSessions(ctx, userId, eq(sessions.id, id))) > 0

/** Ends all sessions of the user except the caller's. @returns how many */
export const endOtherSessions = (ctx: Ctx, { actor, sessionId }: Pick<Caller, 'actor' | 'sessionId'>): Promise<number> =>
  sessionId ? endSessions(ctx, actor.id, ne(sessions.id, sessionId)) : Promise.resolve(0)
