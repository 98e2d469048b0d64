import { once } from 'node:events'
import { hashToken, pruneSessions } from '@muster/core/access'
import { systemCtx } from '@muster/core/context'
import { createListener } from '@muster/core/events'
import { schema } from '@muster/core/registry'
import type { TenantFixture } from '@muster/core/testing'
import { and, eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import { createApi } from '../api.ts'
import { globalId } from '../graphql/shared/ids.ts'
import { PEER } from '../http/request-facts.ts'
import { type HttpServer, serveHttp } from '../http/server.ts'
import { AUTH_SECRET, PUBLIC_URL, testApi } from '../testing/api.ts'
import { insertSession } from '../testing/sessions.ts'
import { createAuth } from './auth.ts'
import { signCookie } from './session-cookie.ts'

const { members, sessions } = schema
let t: Awaited<ReturnType<typeof testApi>>
/** Another API process on the same database, to which the streams connect. */
let other: HttpServer
let closeListener: () => Promise<void>
let fixture: TenantFixture
beforeAll(async () => {
  t = await testApi()
  const listener = await createListener(t.url, t.runtime.log)
  closeListener = () => listener.close()
  const auth = createAuth({ db: t.runtime.db, secret: AUTH_SECRET, publicUrl: PUBLIC_URL, log: t.runtime.log, listener })
  other = await serveHttp(createApi({ ...t.api.deps, listener, auth }), { host: '127.0.0.1', port: 0 })
})
beforeEach(async () => {
  fixture = await t.given.tenant()
})
afterAll(async () => {
  await other?.stop()
  await closeListener?.()
  await t?.close()
})

const userId = () => fixture.owner.actor.id!
const newSession = () => insertSession(t.runtime.db, userId())
const bearer = (token: string) => ({ authorization: `Bearer ${token}` })
const isSignedIn = async (headers: Record<string, string>) =>
  (await t.ask<{ viewer: object | null }>({ headers }, '{ viewer { name } }')).viewer !== null
const cookieName = '__Host-muster.session_token'

test('accepts a session cookie only with the signature of the server', async () => {
  const { token } = await newSession()
  expect(await isSignedIn({ cookie: `${cookieName}=${signCookie(token, AUTH_SECRET)}` })).toBe(true)
  for (const cookie of [
    token,
    `${token}.`,
    `${token}.abc`,
    signCookie(token, 'another secret'),
    signCookie(hashToken(token), AUTH_SECRET),
  ])
    expect(await isSignedIn({ cookie: `${cookieName}=${cookie}` })).toBe(false)
})

test('the stored hash is not a session token', async () => {
  const { token } = await newSession()
  expect(await isSignedIn(bearer(hashToken(token)))).toBe(false)
})

test('a session ends when it is idle too long, and at its end date', async () => {
  const change = async (columns: object) => {
    const { id, token } = await newSession()
    await t.runtime.db.update(sessions).set(columns).where(eq(sessions.id, id))
    return isSignedIn(bearer(token))
  }
  expect(await change({ lastUsedAt: sql`now() - interval '23 hours'` })).toBe(true)
  expect(await change({ lastUsedAt: sql`now() - interval '25 hours'` })).toBe(false)
  expect(await change({ expiresAt: sql`now() - interval '1 second'` })).toBe(false)
})

test('expired sessions are deleted', async () => {
  const [old, current] = [await newSession(), await newSession()]
  await t.runtime.db.update(sessions).set({ expiresAt: sql`now() - interval '1 second'` }).where(eq(sessions.id, old.id))
  expect(await pruneSessions(systemCtx(t.runtime))).toBeGreaterThan(0)
  expect(await t.runtime.db.$count(sessions, eq(sessions.id, old.id))).toBe(0)
  expect(await t.runtime.db.$count(sessions, eq(sessions.id, current.id))).toBe(1)
})

test('lists the sessions of the user with device and address, and ends one or all others', async () => {
  const { id, token } = await newSession()
  const [second, third] = [await newSession(), await newSession()]
  const stranger = await insertSession(t.runtime.db, fixture.viewer.actor.id!)
  await t.runtime.db.update(sessions).set({ lastUsedAt: sql`now() - interval '1 hour'` }).where(eq(sessions.id, id))
  const me = {
    headers: {
      ...bearer(token),
      [PEER]: '192.0.2.7',
      'user-agent': 'Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0',
    },
  }
  const LIST = '{ sessions { totalCount edges { node { id isCurrent device address lastUsedAt } } } }'
  await t.ask(me, '{ viewer { name } }')
  const { sessions: page } = await t.ask<{ sessions: { totalCount: number; edges: { node: Record<string, unknown> }[] } }>(
    me,
    LIST,
  )
  expect(page.totalCount).toBe(3)
  expect(page.edges[0]!.node).toMatchObject({ isCurrent: true, device: 'Firefox on Linux', address: '192.0.2.7' })
  expect(Date.parse(String(page.edges[0]!.node.lastUsedAt))).toBeGreaterThan(Date.now() - 60_000)

  const END = 'mutation ($id: ID!) { endSession(input: { id: $id }) { __typename } }'
  const end = async (row: { id: string }) =>
    (await t.ask<{ endSession: { __typename: string } }>(me, END, { id: globalId('Session', row.id) })).endSession.__typename
  expect(await isSignedIn(bearer(second.token))).toBe(true)
  expect(await end(second)).toBe('EndSessionPayload')
  expect(await isSignedIn(bearer(second.token))).toBe(false)
  expect(await end(second)).toBe('NotFoundError')
  expect(await end(stranger)).toBe('NotFoundError')
  expect(await t.ask(me, 'mutation { endOtherSessions { ... on EndOtherSessionsPayload { endedCount } } }')).toEqual({
    endOtherSessions: { endedCount: 1 },
  })
  expect(await isSignedIn(bearer(third.token))).toBe(false)
  expect(await isSignedIn(bearer(token))).toBe(true)
  expect(await isSignedIn(bearer(stranger.token))).toBe(true)
})

/** Opens a WebSocket with the session. @returns the promise of its close code */
async function openSocket(token: string): Promise<{ closed: Promise<number> }> {
  const socket = new WebSocket(`ws://127.0.0.1:${other.port}/graphql`, 'graphql-transport-ws')
  const closed = once(socket, 'close').then(([code]) => code as number)
  await once(socket, 'open')
  socket.send(JSON.stringify({ type: 'connection_init', payload: bearer(token) }))
  const [ack] = await once(socket, 'message')
  expect(JSON.parse(String(ack)).type).toBe('connection_ack')
  socket.send(JSON.stringify({ id: '1', type: 'subscribe', payload: { query: 'subscription { nodeUpdated { id } }' } }))
  return { closed }
}

/** Opens an event stream with the session. @returns the promise of its end */
async function openStream(token: string): Promise<{ closed: Promise<string> }> {
  const response = await fetch(`http://127.0.0.1:${other.port}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...bearer(token) },
    body: JSON.stringify({ query: 'subscription { nodeUpdated { id } }' }),
  })
  return { closed: response.text().then(String, () => 'closed') }
}

test('ending a session closes its socket and event stream at another API process', async () => {
  const { id, token } = await newSession()
  const [socket, stream, caller] = [await openSocket(token), await openStream(token), await newSession()]
  await t.ask(
    { headers: bearer(caller.token) },
    `mutation { endSession(input: { id: "${globalId('Session', id)}" }) { __typename } }`,
  )
  expect(await socket.closed).toBe(4401)
  expect(await stream.closed).toBe('closed')
})

test('a request in progress is answered when its session ends, also if it would accept an event stream', async () => {
  const [{ id, token }, caller] = [await newSession(), await newSession()]
  const stream = await openStream(token)
  const { response, isWaiting } = await t.runtime.db.transaction(async (tx) => {
    await tx.execute(sql`lock table compute_nodes in access exclusive mode`)
    const response = fetch(`http://127.0.0.1:${other.port}/graphql`, {
      method: 'POST',
      // As urql sends it.
      headers: {
        'content-type': 'application/json',
        accept: 'application/graphql-response+json, application/json, text/event-stream, multipart/mixed',
        ...bearer(token),
      },
      body: JSON.stringify({ query: '{ nodes(first: 1) { totalCount } }' }),
    }).then((it) => it.json())
    const isWaiting = async () => {
      const { rows } = await t.runtime.db.execute(
        sql`select from pg_locks where not granted and relation = 'compute_nodes'::regclass`,
      )
      return rows.length > 0
    }
    await expect.poll(isWaiting).toBe(true)
    await t.ask(
      { headers: bearer(caller.token) },
      `mutation { endSession(input: { id: "${globalId('Session', id)}" }) { __typename } }`,
    )
    expect(await stream.closed).toBe('closed')
    return { response, isWaiting }
  })
  expect(await response).toEqual({ data: { nodes: { totalCount: 0 } } })
  expect(await isWaiting()).toBe(false)
})

test('an open stream is no use of its session, although the session is checked', async () => {
  const [open, ended, caller] = [await newSession(), await newSession(), await newSession()]
  const first = await openStream(open.token)
  const second = await openStream(ended.token)
  const anHourAgo = new Date(Date.now() - 3600_000)
  await t.runtime.db.update(sessions).set({ lastUsedAt: anHourAgo }).where(eq(sessions.id, open.id))
  const end = async ({ id }: { id: string }) =>
    t.ask(
      { headers: bearer(caller.token) },
      `mutation { endSession(input: { id: "${globalId('Session', id)}" }) { __typename } }`,
    )
  await end(ended)
  // The check that ends this stream reads the sessions of all streams.
  expect(await second.closed).toBe('closed')
  const [row] = await t.runtime.db.select().from(sessions).where(eq(sessions.id, open.id))
  expect(row!.lastUsedAt).toEqual(anHourAgo)
  await end(open)
  expect(await first.closed).toBe('closed')
})

test('a change in the database without a change event closes streams too', async () => {
  const [removed, demoted] = [await newSession(), await insertSession(t.runtime.db, fixture.admin.actor.id!)]
  const [first, second, stream] = [
    await openSocket(removed.token),
    await openSocket(demoted.token),
    await openStream(demoted.token),
  ]
  await t.runtime.db.delete(members).where(and(eq(members.userId, userId()), eq(members.tenantId, fixture.tenant.id)))
  await t.runtime.db.update(members).set({ role: 'viewer' }).where(eq(members.userId, fixture.admin.actor.id!))
  expect(await first.closed).toBe(4401)
  // Clients of graphql-ws connect again after this code.
  expect(await second.closed).toBe(1012)
  expect(await stream.closed).toBe('closed')
})
