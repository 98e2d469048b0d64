import { once } from 'node:events'
import { connect } from 'node:net'
import { recordBootFetches } from '@muster/core/boot-service'
import { finishConnectionTest, recordPreflightStage, startConnectionTest, testConnections } from '@muster/core/connections'
import { setNodeMaintenance } from '@muster/core/node-states'
import { claimJobRun } from '@muster/core/run-queue'
import { appendJobRunEvents, finishJobRun, runJob } from '@muster/core/runs'
import type { TenantFixture } from '@muster/core/testing'
import { createClient } from 'graphql-ws'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { WebSocket } from 'ws'
import type { ApiContext } from './context.ts'
import { globalId } from './graphql/shared/ids.ts'
import { type HttpServer, serveHttp } from './http/server.ts'
import { nextSender } from './http/web-sockets.ts'
import { testApi } from './testing/api.ts'

let t: Awaited<ReturnType<typeof testApi>>
let server: HttpServer
let fixture: TenantFixture
beforeAll(async () => {
  t = await testApi()
  server = await serveHttp(t.api, { host: '127.0.0.1', port: 0 })
})
beforeEach(async () => {
  fixture = await t.given.tenant()
})
afterAll(async () => {
  await server?.stop()
  await t?.close()
})

type Message<T> = { data?: T; errors?: { message: string; extensions: { code: string } }[] }
type Following<T> = { got: Message<T>[]; ended: Promise<void>; isEnded(): boolean; leave(): void }

/** Subscribes over a WebSocket. */
async function overSocket<T>(as: TenantFixture['viewer'], query: string, variables: object = {}): Promise<Following<T>> {
  const authorization = `Bearer ${await t.tokenOf(as)}`
  const client = createClient({
    url: `ws://127.0.0.1:${server.port}/graphql`,
    webSocketImpl: WebSocket,
    connectionParams: { authorization },
    retryAttempts: 0,
    lazy: false,
    onNonLazyError: () => {},
  })
  const got: Message<T>[] = []
  let isEnded = false
  const ended = new Promise<void>((resolve, reject) => {
    client.subscribe<T>(
      { query, variables: variables as Record<string, unknown> },
      {
        next: (message) => void got.push(message as Message<T>),
        error: (error) => {
          if (!Array.isArray(error)) return reject(error)
          got.push({ errors: error as never })
          resolve()
        },
        complete: resolve,
      },
    )
  }).finally(() => {
    isEnded = true
  })
  ended.catch(() => {})
  return { got, ended, isEnded: () => isEnded, leave: () => void client.dispose() }
}

/** Subscribes over server-sent events. */
async function overEvents<T>(as: TenantFixture['viewer'], query: string, variables: object = {}): Promise<Following<T>> {
  const leaving = new AbortController()
  const response = await fetch(`http://127.0.0.1:${server.port}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream', authorization: `Bearer ${await t.tokenOf(as)}` },
    body: JSON.stringify({ query, variables }),
    signal: leaving.signal,
  })
  expect(response.headers.get('content-type')).toMatch('text/event-stream')
  const got: Message<T>[] = []
  let isEnded = false
  const ended = (async () => {
    let text = ''
    for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
      text += chunk
      const events = text.split('\n\n')
      text = events.pop()!
      for (const event of events) {
        const data = /^data: (.+)$/m.exec(event)?.[1]
        if (/^event: next$/m.test(event) && data) got.push(JSON.parse(data) as Message<T>)
      }
    }
  })().finally(() => {
    isEnded = true
  })
  ended.catch(() => {})
  return { got, ended, isEnded: () => isEnded, leave: () => leaving.abort() }
}

const TRANSPORTS = [
  ['WebSocket', overSocket],
  ['server-sent events', overEvents],
] as const

async function startRun(of: TenantFixture) {
  const credential = await t.given.credential(of.admin, 'SSH_KEY')
  await t.given.fleet(of.operator, { nodes: 2, with: { credentialId: credential.id } })
  const { id } = await runJob(of.operator, { template: 'connectivity_check', limit: 'all' })
  const { token } = (await claimJobRun(of.worker, { id, workerId: 'w1' }))!
  const lines = (from: number, to: number) =>
    appendJobRunEvents(of.worker, {
      id,
      token,
      events: Array.from({ length: to - from + 1 }, (_, i) => ({
        kind: 'output',
        stdout: `line ${from + i}`,
        createdAt: new Date(),
      })),
    })
  const finish = () =>
    finishJobRun(of.worker, { id, token, endCause: 'exit', exitCode: 0, error: null, hosts: [], interruptedHosts: [] } as never)
  return { id, gid: globalId('JobRun', id), lines, finish }
}

const LOG =
  'subscription ($id: ID!, $after: BigInt) { jobRunEvents(id: $id, after: $after) { lastSeq events { seq stdout startLine } run { status lastSeq } } }'
type Log = { jobRunEvents: { lastSeq: number; events: { seq: number; stdout: string }[]; run: { status: string } } }
const seqs = ({ got }: Following<Log>) => got.flatMap(({ data }) => data?.jobRunEvents.events.map(({ seq }) => seq) ?? [])
const upTo = (n: number, from = 1) => Array.from({ length: n - from + 1 }, (_, i) => from + i)

test.each(TRANSPORTS)('streams a log to its end over %s', async (_transport, subscribe) => {
  const run = await startRun(fixture)
  await run.lines(1, 700)
  const following = await subscribe<Log>(fixture.viewer, LOG, { id: run.gid })
  await expect.poll(() => seqs(following).length).toBeGreaterThanOrEqual(700)
  await run.lines(701, 710)
  await expect.poll(() => seqs(following).length).toBeGreaterThanOrEqual(710)
  await run.finish()
  await following.ended
  expect(seqs(following)).toEqual(upTo(following.got.at(-1)!.data!.jobRunEvents.lastSeq))
  expect(following.got[0]!.data!.jobRunEvents.events[0]!.stdout).toBe('line 1')
  expect(following.got.at(-1)!.data!.jobRunEvents.run.status).not.toBe('RUNNING')
})

test('resumes after the last seq without gaps or repeats', async () => {
  const run = await startRun(fixture)
  await run.lines(1, 50)
  const first = await overSocket<Log>(fixture.viewer, LOG, { id: run.gid })
  await expect.poll(() => seqs(first).length).toBeGreaterThanOrEqual(50)
  first.leave()
  await run.lines(51, 80)
  const second = await overEvents<Log>(fixture.viewer, LOG, { id: run.gid, after: seqs(first).at(-1) })
  await run.finish()
  await second.ended
  const all = [...seqs(first), ...seqs(second)]
  expect(all).toEqual(upTo(all.length))
  expect(all.length).toBeGreaterThanOrEqual(80)
})

test('executes a batch once per caller and selection', async () => {
  const run = await startRun(fixture)
  const subscribe = async (as: TenantFixture['viewer'], query: string) => {
    const socketHeaders = new Headers({ authorization: `Bearer ${await t.tokenOf(as)}` })
    const enveloped = t.api.yoga.getEnveloped({ socketHeaders })
    const results = await enveloped.subscribe({
      schema: enveloped.schema,
      document: enveloped.parse(query),
      variableValues: { id: run.gid },
      contextValue: await enveloped.contextFactory(),
    })
    return (results as AsyncIterable<Message<Log>>)[Symbol.asyncIterator]()
  }
  const followers = [
    await subscribe(fixture.viewer, LOG),
    await subscribe(fixture.viewer, LOG),
    await subscribe(fixture.operator, LOG),
    await subscribe(fixture.viewer, LOG.replace('lastSeq', '')),
  ]
  // The first page is read per subscription; subsequent pages are shared.
  const next = () => Promise.all(followers.map(async (follower) => (await follower.next()).value as Message<Log>))
  const first = next()
  await run.lines(1, 3)
  await first
  const second = next()
  await run.lines(4, 6)
  const [one, same, another, less] = await second
  expect(one!.data!.jobRunEvents.events.map((event) => event.seq)).toEqual([4, 5, 6])
  expect(same).toBe(one)
  expect(another).toEqual(one)
  expect(another).not.toBe(one)
  expect(Object.keys(less!.data!.jobRunEvents)).toEqual(['events', 'run'])
  await run.finish()
  for (const follower of followers) await follower.return?.()
})

test('returns the same log and run over WebSocket, server-sent events and query', async () => {
  const run = await startRun(fixture)
  const fields = `number status templateName limit extraVars forks jobTags checkMode createdAt startedAt finishedAt
    durationMs exitCode lastSeq lineCount interruptedHosts { hostlist } hostCounts { total } cancelBlockedReason`
  const event = 'seq kind host play task action isChanged durationMs stdout startLine lineCount result createdAt'
  const documents = [fields, `${fields} createdBy { name } hosts { edges { node { name result } } } template { name }`].map(
    (ofRun) => `subscription ($id: ID!) { jobRunEvents(id: $id) { lastSeq events { ${event} } run { ${ofRun} } } }`,
  )
  const followings = await Promise.all(
    documents.flatMap((document) => TRANSPORTS.map(([, subscribe]) => subscribe<Log>(fixture.viewer, document, { id: run.gid }))),
  )
  await run.lines(1, 20)
  await run.finish()
  for (const { ended } of followings) await ended
  const query = `query ($id: ID!) { node(id: $id) { ... on JobRun { ${fields}
    createdBy { name } hosts { edges { node { name result } } } template { name } events { edges { node { ${event} } } } } } }`
  type Node = { events: { edges: { node: object }[] }; createdBy: object; hosts: object; template: object }
  const { events, createdBy, hosts, template, ...plain } = (await t.ask<{ node: Node }>(fixture.viewer, query, { id: run.gid }))
    .node
  for (const [i, { got }] of followings.entries()) {
    expect(got.flatMap((message) => message.data!.jobRunEvents.events)).toEqual(events.edges.map(({ node }) => node))
    expect(got.at(-1)!.data!.jobRunEvents.run).toEqual(i < TRANSPORTS.length ? plain : { ...plain, createdBy, hosts, template })
  }
})

test('rejects every batch of a subscription that exceeds the cost limit', async () => {
  const run = await startRun(fixture)
  const query = `subscription ($id: ID!) { jobRunEvents(id: $id) { events { seq } run { hosts(first: 500) { edges { node { node {
    runs(first: 500) { edges { node { id } } } } } } } } } }`
  const following = await overSocket<Log>(fixture.viewer, query, { id: run.gid })
  await run.lines(1, 2)
  await expect.poll(() => following.got.length).toBeGreaterThan(0)
  await run.finish()
  await following.ended
  expect(following.got.length).toBeGreaterThan(1)
  for (const { data, errors } of following.got)
    expect([data, errors]).toMatchObject([null, [{ extensions: { code: 'LIMIT_EXCEEDED' } }]])
})

test('masks errors in serialized WebSocket messages', async () => {
  const run = await startRun(fixture)
  const sent: string[] = []
  const enveloped = t.api.yoga.getEnveloped({
    socketHeaders: new Headers({ authorization: `Bearer ${await t.tokenOf(fixture.viewer)}` }),
    sendNext: (text: string) => void sent.push(text),
  })
  const context = (await enveloped.contextFactory()) as ApiContext
  const db = new Proxy(context.ctx.db, {
    get(target, key) {
      if (key === 'query') throw new Error('the password is 1234')
      return Reflect.get(target, key, target)
    },
  })
  const results = (await enveloped.subscribe({
    schema: enveloped.schema,
    document: enveloped.parse(LOG.replace('run {', 'run { hosts { edges { node { name } } }')),
    variableValues: { id: run.gid },
    contextValue: Object.assign(context, { ctx: { ...context.ctx, db } }),
  })) as AsyncIterable<unknown>
  const ended = results[Symbol.asyncIterator]().next()
  await run.lines(1, 2)
  await run.finish()
  expect(await ended).toEqual({ done: true, value: undefined })
  expect(sent.length).toBeGreaterThan(0)
  for (const text of sent) {
    expect(JSON.parse(text).errors).toMatchObject([{ extensions: { code: 'INTERNAL' }, path: ['jobRunEvents', 'run'] }])
    expect(text).toContain(context.requestId)
    expect(text).not.toContain('1234')
  }
})

test('waits for a slow socket, and sends nothing to a closed one', async () => {
  const written: { text: string; done?: () => void }[] = []
  const socket = {
    OPEN: 1,
    readyState: 1,
    bufferedAmount: 0,
    send: (text: string, done?: () => void) => void written.push({ text, done }),
  }
  const sendNext = nextSender(socket as never, 'a "b"')
  expect(sendNext('{"data":1}')).toBeUndefined()
  expect(JSON.parse(written[0]!.text)).toEqual({ id: 'a "b"', type: 'next', payload: { data: 1 } })
  socket.bufferedAmount = 1_000_000
  const waiting = Promise.resolve(sendNext('{}')).then(() => 'sent')
  expect(await Promise.race([waiting, new Promise((resolve) => setImmediate(resolve, 'waits'))])).toBe('waits')
  written[1]!.done!()
  expect(await waiting).toBe('sent')
  socket.readyState = 3
  await sendNext('{}')
  expect(written.length).toBe(2)
})

test.each(TRANSPORTS)('streams the current state and changes of connection tests over %s', async (_transport, subscribe) => {
  const [one, two] = await t.given.fleet(fixture.operator, { nodes: 2 })
  const tests = await testConnections(fixture.operator, { nodeIds: [one!.id, two!.id] })
  type Tests = {
    connectionTestUpdated: {
      id: string
      isOk: boolean | null
      stages: { stage: string; state: string }[]
      node: { name: string; status: string }
    }
  }
  const following = await subscribe<Tests>(
    fixture.viewer,
    'subscription ($ids: [ID!]!) { connectionTestUpdated(ids: $ids) { id isOk stages { stage state durationMs } node { name status } } }',
    { ids: tests.map(({ id }) => globalId('ConnectionTest', id)) },
  )
  await expect.poll(() => following.got.length).toBeGreaterThanOrEqual(2)
  for (const { id } of tests) {
    await startConnectionTest(fixture.worker, { id })
    await recordPreflightStage(fixture.worker, {
      id,
      stage: { stage: 'RESOLVE', hop: null, state: 'OK', durationMs: 1.4, detail: '10.0.0.1', hint: null },
    })
    await finishConnectionTest(fixture.worker, { id, isOk: true, error: null })
  }
  await following.ended
  for (const { id } of tests) {
    const last = following.got
      .map(({ data }) => data!.connectionTestUpdated)
      .findLast((each) => each.id === globalId('ConnectionTest', id))
    expect(last).toMatchObject({
      isOk: true,
      stages: [{ stage: 'RESOLVE', state: 'OK', durationMs: 1 }],
      node: { status: 'READY' },
    })
  }
})

test('streams the stages of the boots of a node', async () => {
  const [node] = await t.given.fleet(fixture.operator, { nodes: 1 })
  type Boots = { nodeBootUpdated: { bootAttempts: { edges: { node: { timeline: { stage: string }[] } }[] } } }
  const boots = await overEvents<Boots>(
    fixture.viewer,
    'subscription ($id: ID!) { nodeBootUpdated(id: $id) { bootAttempts(first: 1) { edges { node { timeline { stage } } } } } }',
    { id: globalId('ComputeNode', node!.id) },
  )
  const stages = () =>
    boots.got.at(-1)?.data?.nodeBootUpdated.bootAttempts.edges.map(({ node }) => node.timeline.map(({ stage }) => stage))
  await expect.poll(stages).toEqual([])
  const fetched = { nodeId: node!.id, nodeName: node!.name, profile: null, profileVersion: null, address: null, hash: 'a' }
  await recordBootFetches(fixture.system, [{ ...fetched, kind: 'BOOT_SCRIPT', mac: '02:00:00:00:00:01' }])
  await expect.poll(stages).toEqual([['BOOT_SCRIPT']])
  await recordBootFetches(fixture.system, [{ ...fetched, kind: 'META_DATA' }])
  await expect.poll(stages).toEqual([['BOOT_SCRIPT', 'CLOUD_INIT']])
  boots.leave()
})

test('streams the current state of nodes of the tenant only', async () => {
  const stranger = await t.given.tenant()
  const [theirs] = await t.given.fleet(stranger.operator, { nodes: 1 })
  const [own] = await t.given.fleet(fixture.operator, { nodes: 1, accelerators: 1 })
  type Node = { nodeUpdated: { name: string; status: string; acceleratorSummary: { count: number }[] } }
  const all = await overSocket<Node>(fixture.viewer, 'subscription { nodeUpdated { name status acceleratorSummary { count } } }')
  const one = await overEvents<Node>(fixture.viewer, 'subscription ($id: ID!) { nodeUpdated(id: $id) { status } }', {
    id: globalId('ComputeNode', own!.id),
  })
  const foreign = await overEvents<Node>(fixture.viewer, 'subscription ($id: ID!) { nodeUpdated(id: $id) { status } }', {
    id: globalId('ComputeNode', theirs!.id),
  })
  await expect.poll(() => one.got.length).toBe(1)
  // The subscription to all nodes has no initial event, so the change is repeated until it is active.
  await expect
    .poll(async () => {
      await setNodeMaintenance(stranger.operator, { id: theirs!.id, isOn: true })
      await setNodeMaintenance(fixture.operator, { id: own!.id, isOn: false })
      await setNodeMaintenance(fixture.operator, { id: own!.id, isOn: true })
      return all.got.length
    })
    .toBeGreaterThan(0)
  await expect.poll(() => one.got.at(-1)!.data!.nodeUpdated.status).toBe('MAINTENANCE')
  await expect.poll(() => all.got.at(-1)!.data!.nodeUpdated.status).toBe('MAINTENANCE')
  expect(new Set(all.got.map(({ data }) => data!.nodeUpdated.name))).toEqual(new Set([own!.name]))
  expect(all.got[0]!.data!.nodeUpdated.acceleratorSummary).toEqual([{ count: 1 }])
  await foreign.ended
  expect(foreign.got).toEqual([])
  all.leave()
  one.leave()
})

test('a run of another tenant is not found', async () => {
  const run = await startRun(await t.given.tenant())
  const following = await overSocket<Log>(fixture.viewer, LOG, { id: run.gid })
  await following.ended
  expect(following.got).toMatchObject([{ errors: [{ extensions: { code: 'NOT_FOUND' } }] }])
  await run.finish()
})

test('recovers from a lost LISTEN connection', async () => {
  const run = await startRun(fixture)
  await run.lines(1, 3)
  const log = await overSocket<Log>(fixture.viewer, LOG, { id: run.gid })
  const status = await overEvents<{ jobRunUpdated: { status: string } }>(
    fixture.viewer,
    'subscription ($id: ID!) { jobRunUpdated(id: $id) { status } }',
    { id: run.gid },
  )
  await expect.poll(() => seqs(log).length).toBeGreaterThanOrEqual(3)
  await expect.poll(() => status.got.length).toBeGreaterThan(0)
  const back = new Promise<void>((resolve) => t.listener.onReconnect(resolve))
  await t.asOwner(
    `select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'muster-listen' and datname = current_database()`,
  )
  await back
  await run.lines(4, 6)
  await run.finish()
  await Promise.all([log.ended, status.ended])
  expect(seqs(log)).toEqual(upTo(seqs(log).length))
  expect(status.got.at(-1)!.data!.jobRunUpdated.status).not.toBe('RUNNING')
})

test('rejects subscriptions without authentication', async () => {
  const client = createClient({ url: `ws://127.0.0.1:${server.port}/graphql`, webSocketImpl: WebSocket, retryAttempts: 0 })
  const next = await client.iterate({ query: 'subscription { nodeUpdated { id } }' }).next()
  expect(next.value).toMatchObject({ errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] })
  await client.dispose()
})

test('executes queries and mutations over the WebSocket', async () => {
  const { got, ended } = await overSocket<{ nodes: { edges: object[] } }>(fixture.viewer, '{ nodes { edges { node { name } } } }')
  await ended
  expect(got).toEqual([{ data: { nodes: { edges: [] } } }])
  const rejected = await overSocket(fixture.viewer, 'mutation { addNode(input: { name: "a", host: "b" }) { __typename } }')
  await rejected.ended
  expect(rejected.got).toEqual([{ data: { addNode: { __typename: 'ForbiddenError' } } }])
})

test('rejects WebSockets of other origins with a cookie', async () => {
  const open = (headers: Record<string, string>) =>
    new WebSocket(`ws://127.0.0.1:${server.port}/graphql`, 'graphql-transport-ws', { headers })
  const [error] = (await once(open({ origin: 'https://evil.test', cookie: 'a=b' }), 'error')) as [Error]
  expect(error.message).toMatch('403')
  const good = open({ origin: `http://127.0.0.1:${server.port}`, cookie: 'a=b' })
  await once(good, 'open')
  good.terminate()
})

test('a subscription over HTTP requires an event stream', async () => {
  const { status, errors } = await t.send(fixture.viewer, 'subscription { nodeUpdated { id } }')
  expect({ status, errors }).toMatchObject({ errors: [{ message: expect.stringContaining('text/event-stream') }] })
})

test('survives malformed request targets', async () => {
  for (const line of [
    'GET // HTTP/1.1',
    'GET http:// HTTP/1.1',
    'GET //[ HTTP/1.1\r\nConnection: Upgrade\r\nUpgrade: websocket',
  ]) {
    const socket = connect(server.port, '127.0.0.1')
    socket.on('error', () => {})
    socket.end(`${line}\r\nHost: x\r\n\r\n`)
    await once(socket.resume(), 'close')
  }
  expect((await fetch(`http://127.0.0.1:${server.port}/healthz`)).status).toBe(200)
})
