import { sessionAudit, tenantPermissions } from '@muster/core/access'
import { NotFound } from '@muster/core/errors'
import { schema } from '@muster/core/registry'
import { and, eq } from 'drizzle-orm'
import { builder } from '../../builder.ts'
import { describeDevice } from '../../sign-in/device.ts'
import { connectionTypes, PAGED } from '../shared/connections.ts'
import { rowId } from '../shared/ids.ts'
import { mutation } from '../shared/mutation.ts'

const { sessions } = schema

const Session = builder.drizzleNode('sessions', {
  name: 'Session',
  description:
    'A sign-in of the caller on one device. It ends when it is not used for a time, at its end date, or when the user ends it.',
  select: { columns: { id: true } },
  id: { column: (session) => session.id },
  fields: (t) => ({
    isCurrent: t.boolean({
      description: 'Whether this request uses the session.',
      resolve: ({ id }, _args, { caller }) => caller?.sessionId === id,
    }),
    device: t.string({
      nullable: true,
      description:
        'Browser and operating system at the last use, for example `Firefox on Linux`; null when the client sent none.',
      select: { columns: { userAgent: true } },
      resolve: ({ userAgent }) => describeDevice(userAgent),
    }),
    address: t.exposeString('ipAddress', {
      nullable: true,
      description: 'IP address of the client at the last use; null when unknown.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When the user signed in.' }),
    lastUsedAt: t.expose('lastUsedAt', {
      type: 'DateTime',
      description: 'When the session was last used, with a precision of one minute.',
    }),
    expiresAt: t.expose('expiresAt', { type: 'DateTime', description: 'When the session ends at the latest.' }),
  }),
})
const sessionConnection = connectionTypes(Session, 'Session', 'sessions')

builder.queryField('sessions', (t) =>
  t.drizzleConnection(
    {
      type: Session,
      description: 'Sessions of the signed-in user, oldest first. Empty for API tokens.',
      authScopes: { permission: tenantPermissions.read },
      ...PAGED,
      totalCount: (_root, _args, { ctx, caller, deps }) =>
        ctx.db.$count(sessions, and(eq(sessions.userId, userOf(caller)), deps.auth.isLiveSession(sessions))),
      resolve: (query, _root, _args, { ctx, caller, deps }) =>
        ctx.db.query.sessions.findMany(query({ where: { userId: userOf(caller), RAW: deps.auth.isLiveSession } })),
    },
    ...sessionConnection,
  ),
)

/** An ID that no user has for API tokens, which have no sessions. */
const NOBODY = '00000000-0000-0000-0000-000000000000'
export const userOf = (caller: { actor: { kind: string; id: string } } | null) =>
  caller?.actor.kind === 'user' ? caller.actor.id : NOBODY

mutation('endSession', {
  description: 'Ends a session of the signed-in user. Its requests are rejected and its subscriptions end within 5 seconds.',
  input: (t) => ({ id: t.id({ required: true, description: 'ID of the session.' }) }),
  payload: { endedId: { type: 'ID', description: 'The ID of the ended session.' } },
  errors: [NotFound],
  resolve: async ({ id }, context) => {
    await context.deps.auth.endSession(context, rowId('Session', id))
    return { endedId: id }
  },
})

mutation('endOtherSessions', {
  action: sessionAudit.end,
  description: 'Ends all sessions of the signed-in user except the one of this request.',
  payload: { endedCount: { type: 'Int', description: 'Number of sessions that ended.' } },
  resolve: async (_input, context) => ({ endedCount: await context.deps.auth.endOtherSessions(context) }),
})
