import { isLong } from '@muster/core/testing'
import { sql } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { globalId, parseId } from './graphql/shared/ids.ts'
import { createRouter, TOKEN_ENDPOINTS } from './http/router.ts'
import { type HttpServer, serveHttp } from './http/server.ts'
import type { Caller } from './testing/isolation/callers.ts'
import {
  OF_INSTALLATION,
  ONCE,
  OTHER_ROUTES,
  PUBLIC,
  SHARED,
  UNIQUE,
  UNPROVEN,
  VARIABLE,
} from './testing/isolation/exceptions.ts'
import type { FilledTenant } from './testing/isolation/fill-tenant.ts'
import { type Foreign, foreignBytes, normalized } from './testing/isolation/foreign-bytes.ts'
import { createLab, type Lab, succeeded } from './testing/isolation/lab.ts'
import { nestedOperations, type Operation, operationsOf, type Slot } from './testing/isolation/operations.ts'
import { hasOtherRows } from './testing/isolation/rows.ts'
import { changeEverything, openStream, type Stream } from './testing/isolation/streams.ts'
import { seededRandom } from './testing/malicious-heartbeats.ts'

const queries = [...operationsOf('Query'), ...nestedOperations()]
/** Mutations that delete objects or rights run last, because the others need them. */
const isLast = ({ name }: Operation) =>
  /\.(delete|deregister|dismiss|endOther|purge|remove|setStepUp|transfer|signOut)/.test(name)
const mutations = operationsOf('Mutation').sort((a, b) => Number(isLast(a)) - Number(isLast(b)))
const subscriptions = operationsOf('Subscription')
const operations = [...queries, ...mutations]
const SEED = Number(process.env.MUSTER_SEED ?? Date.now() % 1_000_000)

let lab: Lab
let victim: FilledTenant
let victimOwner: Caller
let foreign: Foreign
/** Rows of the victim, by table, before the attacks. */
let rows: Map<string, string[]>
/** Answers to the stranger before the victim existed, by operation and caller. */
const before = new Map<string, string>()
/** Cursors of the victim's objects, by operation. */
const cursors = new Map<string, string>()

beforeAll(async () => {
  lab = await createLab()
  // The first use of a token is recorded.
  for (const caller of lab.callers) await lab.ask(caller, queries[0]!, lab.stranger)
  await forgetRequests()
  for (const operation of queries)
    for (const caller of lab.callers.filter(isCompared))
      before.set(`${operation.name} ${caller.name}`, (await lab.ask(caller, operation, lab.stranger)).text)
  ;({ victim, victimOwner, foreign } = await lab.addVictim())
  for (const operation of queries.filter(({ isConnection }) => isConnection)) {
    const [, cursor] = /"cursor":"([^"]+)"/.exec((await lab.ask(victimOwner, operation, victim)).text) ?? []
    if (cursor) cursors.set(operation.name, cursor)
  }
  await forgetRequests()
})
afterAll(() => lab?.t.close())

/** The strongest and the weakest caller. Lists and names are read in the same way for all that may read them. */
const isCompared = ({ name }: Caller) => name === 'session' || name === 'viewer'

/** Callers of an operation: four kinds and one more, which the seed chooses; in the long tests all. */
function callersFor(operation: Operation): Caller[] {
  const isAlways = ({ name }: Caller) => ['session', 'viewer', 'grant', 'anonymous'].includes(name)
  const others = lab.callers.filter((caller) => !isAlways(caller))
  const chosen = others[seededRandom(SEED + operations.indexOf(operation))(others.length)]
  return lab.callers.filter((caller) => isLong || isAlways(caller) || caller === chosen)
}

/** Removes the audit entries of the stranger's own requests, which its lists would contain. */
const forgetRequests = () =>
  lab.t.runtime.db.execute(sql`delete from audit_entries where tenant_id = ${lab.stranger.tenant.id} and outcome = 'denied'`)

const isUnproven = (name: string) =>
  Object.keys(UNPROVEN).some((prefix) => name === prefix || (/[(.]/.test(prefix.slice(9)) && name.startsWith(prefix)))
const mayAdminister = (caller: Caller, operation: Operation, slot?: Slot) =>
  caller.isInstallationAdmin &&
  (OF_INSTALLATION.operations.includes(operation.name) ||
    OF_INSTALLATION.types.includes((slot && lab.known.get(slot.name)?.type) ?? ''))

describe(`a list, a count and an order do not depend on another tenant, seed ${SEED}`, () => {
  test.each(queries)('$name', async (operation) => {
    const check = async (caller: Caller) => {
      if (mayAdminister(caller, operation)) return
      const { text } = await lab.ask(caller, operation, lab.stranger)
      const was = before.get(`${operation.name} ${caller.name}`)
      if (was && !VARIABLE.includes(operation.name))
        expect(lab.comparable(operation, { text, sent: [] }), caller.name).toBe(
          lab.comparable(operation, { text: was, sent: [] }),
        )
      expect(foreignBytes(text, foreign), caller.name).toBeNull()
    }
    // One after the other, because refusals of others would be in the audit log that they read.
    for (const caller of lab.callers.filter(isCompared)) await check(caller)
    await Promise.all(
      callersFor(operation)
        .filter((caller) => !isCompared(caller))
        .map(check),
    )
  })
})

/**
 * Changes the tenant until each stream has received a change. A stream begins with the changes after its first statement, which is
 * sent after the stream is open. A subscription whose owner receives nothing needs its changes in changeEverything.
 */
async function changeUntilReceived(tenant: FilledTenant, streams: Stream[], isChange: (text: string) => boolean): Promise<void> {
  const isWaiting = (stream: Stream) => !isChange(stream.text())
  const change = async () => {
    if (streams.some(isWaiting)) await changeEverything(lab.t, tenant)
    return streams.filter(isWaiting).length
  }
  await expect.poll(change, { message: 'streams without a change', interval: 500 }).toBe(0)
}

describe('a subscription', () => {
  test.each(subscriptions)('$name streams nothing of another tenant', async (operation) => {
    const open = async (caller: Caller, tenant: FilledTenant, tested?: { slot: Slot; value: string }) =>
      openStream(lab.t, await caller.headers(false), operation.document, lab.variablesFor(operation, tenant, tested))
    for (const slot of operation.slots) lab.guess(operation, slot)
    const streams: { stream: Stream; nothing?: Stream; sent: string[] }[] = []
    const controls: Stream[] = [await open(victimOwner, victim)]
    const sentinel = await open(lab.callers[0]!, lab.stranger)
    for (const caller of lab.callers) streams.push({ stream: await open(caller, lab.stranger), sent: [] })
    for (const slot of operation.slots) {
      const { value, absent } = lab.valuesOf(slot, victim)!
      controls.push(await open(victimOwner, victim, { slot, value }))
      for (const caller of lab.callers) {
        const nothing = await open(caller, lab.stranger, { slot, value: absent })
        streams.push({ stream: await open(caller, lab.stranger, { slot, value }), nothing, sent: [value, absent] })
      }
    }
    try {
      await changeUntilReceived(victim, controls, (text) => foreignBytes(text, foreign) !== null)
      await changeUntilReceived(lab.stranger, [sentinel], (text) => text.includes('"data"'))
      for (const { stream, nothing, sent } of streams) {
        expect(foreignBytes(stream.text(), foreign, sent)).toBeNull()
        // Both are rejected, each when its request is handled.
        if (nothing)
          await expect
            .poll(() => [stream, nothing].map(({ text }) => normalized(text(), sent)))
            .toSatisfy(([answer, absent]) => answer === absent)
      }
    } finally {
      await Promise.all(
        [sentinel, ...controls, ...streams.flatMap(({ stream, nothing }) => [stream, nothing])].map((each) => each?.close()),
      )
    }
  })
})

describe('an HTTP route', () => {
  const handler = () => {}
  const agents = { register: handler, heartbeat: handler, health: handler } as never
  // find-my-way does not declare its list of routes.
  const { routes } = createRouter({ deps: {} } as never, { agents, graphql: handler, isStopping: () => false }) as never as {
    routes: { path: string }[]
  }
  const paths = [...new Set(routes.map(({ path }) => path))].filter(
    (path) => !OTHER_ROUTES.some((prefix) => path.startsWith(prefix)),
  )
  let server: HttpServer
  beforeAll(async () => {
    server = await serveHttp(lab.t.api, { host: '127.0.0.1', port: 0 })
  })
  afterAll(() => server?.stop())

  const get = async (caller: Caller, path: string) => {
    const response = await fetch(`http://127.0.0.1:${server.port}${path}`, { headers: await caller.headers(false) })
    return `${response.status} ${await response.text()}`
  }
  /** Names of the parameters that the endpoint reads. */
  async function parametersOf(path: string): Promise<string[]> {
    const names = new Set<string>()
    const params = new URLSearchParams()
    params.get = (name) => {
      names.add(name)
      return null
    }
    await Promise.resolve(TOKEN_ENDPOINTS[path]?.read(lab.stranger.owner, params)).catch(() => {})
    return [...names]
  }

  test.each(paths)('%s serves nothing of another tenant', async (path) => {
    const ids = (tenant: FilledTenant) => Object.values(tenant.ids).flatMap(([id]) => (id ? [id, parseId(id)!.id] : []))
    const parameters = await parametersOf(path)
    const withId = (id: string) => path.replace(/:\w+/, id)
    const foreignIds = path.includes(':') ? ids(victim) : []
    const absentAnswer = normalized(await get(victimOwner, withId(crypto.randomUUID())), [])
    /** IDs for which the owner of the object gets another answer than for one that does not exist. */
    const known: string[] = []
    for (const id of foreignIds) if (normalized(await get(victimOwner, withId(id)), [id]) !== absentAnswer) known.push(id)
    for (const caller of lab.callers) {
      if (!path.includes(':')) expect(foreignBytes(await get(caller, path), foreign), caller.name).toBeNull()
      for (const parameter of parameters) {
        const [answer, nothing] = [victim.marker, 'absentzq'].map((value) => get(caller, `${path}?${parameter}=${value}`))
        expect(normalized(await answer!, [victim.marker]), `${parameter} ${caller.name}`).toBe(
          normalized(await nothing!, ['absentzq']),
        )
      }
      for (const id of isLong || caller === lab.callers[0] ? foreignIds : known) {
        const answer = await get(caller, withId(id))
        expect(answer, caller.name).toMatch(/^4\d\d /)
        expect(foreignBytes(answer, foreign, [id]), `${id} ${caller.name}`).toBeNull()
      }
    }
    // Routes that only change objects answer 405.
    if (!path.includes(':')) expect(await get(victimOwner, path)).toMatch(/^(200|400|405) /)
  })

  test('a signed link is valid only for its own artifact', async () => {
    const query = '{ jobRuns { edges { node { artifacts { id downloadUrl } } } } }'
    type Runs = { jobRuns: { edges: { node: { artifacts: { id: string; downloadUrl: string }[] } }[] } }
    const { jobRuns } = await lab.t.ask<Runs>(lab.stranger.owner, query)
    const [own] = jobRuns.edges.flatMap(({ node }) => node.artifacts)
    const { pathname, search } = new URL(own!.downloadUrl)
    expect(await get(lab.callers[0]!, pathname + search)).toMatch(/^503 /)
    const foreignId = parseId(victim.ids.JobArtifact![0]!)!.id
    expect(await get(lab.callers[0]!, `/api/artifacts/${foreignId}${search}`)).toMatch(/^403 /)
  })

  test('the tenant header names no tenant of others', async () => {
    for (const caller of lab.callers)
      for (const [tenant, absent] of [
        [victim.marker, 'absentzq'],
        [victim.ids.Tenant![0]!, globalId('Tenant', crypto.randomUUID())],
      ] as const) {
        const answers = [tenant, absent].map(async (wanted) => {
          const headers = { ...(await caller.headers(false)), 'x-muster-tenant': wanted }
          const { data, errors } = await lab.t.send({ headers }, '{ nodes { totalCount edges { node { name } } } }')
          return JSON.stringify({ data, errors })
        })
        const [answer, nothing] = await Promise.all(answers)
        expect(answer, caller.name).toMatch(/FORBIDDEN|UNAUTHENTICATED/)
        expect(normalized(answer!, [tenant]), caller.name).toBe(normalized(nothing!, [absent]))
      }
  })
})

describe('its owner reaches objects of the tenant', () => {
  test.each(operations)('$name', async (operation) => {
    let isReached = false
    const named = operation.slots.filter(({ kind }) => kind === 'ID' || operation.root === 'Query')
    if (operation.root === 'Query' || !named.length) {
      const { text } = await lab.ask(lab.owner, operation, lab.control)
      isReached = operation.root === 'Mutation' ? succeeded(text) : text.includes(lab.control.marker)
      expect(text, `${operation.name} is invalid. Complete rows.ts or examples.ts in testing/isolation.`).not.toContain(
        '"INTERNAL"',
      )
    }
    const hint =
      'Its answer to the owner is the same for an object and for none. Add values to MORE in testing/isolation/examples.ts.'
    for (const slot of named) {
      const isProven = await lab.learn(operation, slot)
      isReached ||= isProven
      if (!isUnproven(slot.name) && !isUnproven(operation.name)) expect(isProven, `${slot.name}: ${hint}`).toBe(true)
    }
    if (!isUnproven(operation.name)) expect(isReached, `${operation.name}: ${hint}`).toBe(true)
  })
})

describe(`an object of another tenant does not exist, seed ${SEED}`, () => {
  test('the victim has rows in every table', async () => {
    rows = await lab.rowsOf(victim)
    // Such a table needs columns in testing/isolation/rows.ts, or an entry there if no tenant owns its rows.
    expect([...rows].filter(([name, found]) => !found.length && !hasOtherRows(name)).map(([name]) => name)).toEqual([])
  })

  test.each(operations)('$name', async (operation) => {
    await Promise.all(callersFor(operation).map((caller) => attack(operation, caller)))
  })
})

async function attack(operation: Operation, caller: Caller): Promise<void> {
  const isNamed = operation.slots.some((slot) => lab.known.has(slot.name))
  if (operation.root === 'Mutation' && !isNamed) {
    const { text, sent } = await lab.ask(caller, operation, lab.stranger)
    expect(foreignBytes(text, foreign, sent), caller.name).toBeNull()
    if (caller.name === 'anonymous') expectRejected(operation, text)
  }
  for (const slot of operation.slots) {
    const values = lab.valuesOf(slot, victim)
    if (!values || mayAdminister(caller, operation, slot) || SHARED.includes(lab.known.get(slot.name)?.type ?? '')) continue
    const isUnique = UNIQUE.test(slot.name) && !ONCE.includes(operation.name)
    if (slot.kind === 'String' && !(isCompared(caller) && (operation.root === 'Query' || isUnique))) continue
    const { attempt, answer, expected } = await lab.probe(caller, operation, slot, lab.stranger, values.value, values.absent)
    expect(foreignBytes(attempt.text, foreign, attempt.sent), `${slot.name} ${caller.name}`).toBeNull()
    expect(answer, `${slot.name} ${caller.name}`).toBe(expected)
    if (caller.name === 'anonymous') expectRejected(operation, attempt.text)
  }
  const cursor = cursors.get(operation.name)
  if (!cursor || !isCompared(caller) || mayAdminister(caller, operation)) return
  // Pages that start or end at a cursor of the victim have only the stranger's own objects.
  for (const more of [{ after: cursor }, { before: cursor, first: null, last: 3 }]) {
    const { text } = await lab.ask(caller, operation, lab.stranger, undefined, more)
    expect(foreignBytes(text, foreign, [cursor]), `${caller.name} ${Object.keys(more)[0]}`).toBeNull()
  }
}

test('the rows of the victim are unchanged', async () => {
  for (const [name, found] of await lab.rowsOf(victim)) {
    const were = rows.get(name)!
    // A failed sign-in as one of its users is an entry of its audit log.
    if (name === 'audit_entries') expect(found).toEqual(expect.arrayContaining(were))
    else expect(found, name).toEqual(were)
  }
})

/** Nobody who is not signed in gets data or learns whether an object exists. */
function expectRejected({ name }: Operation, text: string): void {
  if (!PUBLIC.includes(name.split('.')[1]!)) expect(text, name).toMatch(/"code":"UNAUTHENTICATED"/)
}
