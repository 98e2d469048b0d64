import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { createApiToken } from '@muster/core/access'
import { audit, sealAuditEntries, verifyAuditChain } from '@muster/core/audit'
import { tenantCtx } from '@muster/core/context'
import { computeNodes, nodeAudit } from '@muster/core/nodes'
import { actorRole } from '@muster/core/permissions'
import { schema } from '@muster/core/registry'
import {
  FAULT_TIMEOUT,
  isLong,
  nodeEnvironment,
  scaleIterations,
  TEST_MASTER_PASSWORD,
  type TenantFixture,
  type TestRuntime,
  testRuntime,
} from '@muster/core/testing'
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, expect, test, vi } from 'vitest'
import { globalId } from './graphql/shared/ids.ts'
import { countEntries, findViolations, recordEffects } from './testing/audited-effects.ts'
import { seededRandom } from './testing/malicious-heartbeats.ts'

const ADMINS = 100
const MUTATIONS_PER_ADMIN = scaleIterations(100)
const KILLS = scaleIterations(100)
/** Detects a hang. An API that was killed starts within seconds, on a busy machine within minutes. */
const TIMEOUT_MS = isLong ? 1_200_000 : 120_000
const APIS = 2
const SEED = Number(process.env.MUSTER_SEED ?? Date.now() % 1_000_000)

const ENDS_AT = new Date(Date.now() + 86_400_000).toISOString()

/** Inputs of mutations that change one object, by the name of the mutation. */
const MUTATIONS = {
  addNode: (name: string) => `name: "${name}", host: "10.9.0.1"`,
  createNodeGroup: (name: string) => `name: "${name}"`,
  createAlertSilence: (name: string) => `matcher: { clusters: ["${name}"] }, reason: "${name}", endsAt: "${ENDS_AT}"`,
  createApiToken: (name: string) => `name: "${name}", role: "viewer", expiresInSeconds: 3600`,
  updateNode: (name: string, node: string) => `id: "${node}", notes: "${name}"`,
  setNodeMaintenance: (name: string, node: string) => `id: "${node}", enabled: ${name.length % 2 === 0}`,
  testConnections: (_name: string, node: string) => `nodeIds: ["${node}"]`,
}
const ACTIONS = [
  'node.add',
  'node_group.create',
  'alert_silence.create',
  'api_token.create',
  'node.update',
  'node.start_maintenance',
  'node.end_maintenance',
  'node.test_connection',
]

let t: TestRuntime
let fixture: TenantFixture
let folder: string
const apis = new Map<number, ChildProcess>()
beforeAll(async () => {
  t = await testRuntime({ vault: 'real' })
  fixture = await t.given.tenant()
  folder = mkdtempSync(path.join(tmpdir(), 'muster-killed-apis-'))
})
afterAll(async () => {
  for (const child of apis.values()) child.kill('SIGKILL')
  await t?.close()
  rmSync(folder, { recursive: true, force: true })
})

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}

function startApi(port: number): ChildProcess {
  const child = spawn(process.execPath, [fileURLToPath(new URL('./main.ts', import.meta.url))], {
    env: {
      ...nodeEnvironment,
      DATABASE_URL: t.url,
      CREDENTIAL_MASTER_PASSWORD: TEST_MASTER_PASSWORD,
      MUSTER_PUBLIC_URL: 'http://localhost:3000',
      ARTIFACT_DIR: path.join(folder, 'artifacts'),
      PORT: String(port),
      METRICS_PORT: '0',
      LOG_LEVEL: 'error',
    },
    stdio: 'ignore',
  })
  apis.set(port, child)
  return child
}

/** Tokens of admins, each with a node of their own. */
async function createAdmins() {
  const people = await t.runtime.db
    .insert(schema.users)
    .values(Array.from({ length: ADMINS }, (_, i) => ({ name: `admin ${i}`, email: `admin${i}@kill.test`, emailVerified: true })))
    .returning()
  await t.runtime.db
    .insert(schema.members)
    .values(people.map(({ id }) => ({ tenantId: fixture.tenant.id, userId: id, role: 'admin' as const })))
  const nodes = await t.given.fleet(fixture.operator, { nodes: ADMINS, prefix: 'own' })
  return Promise.all(
    people.map(async ({ id, name }, i) => {
      const ctx = tenantCtx(t.runtime, fixture.tenant.id, { kind: 'user', id, name, ...actorRole('admin') })
      return { token: (await createApiToken(ctx, { name, role: 'admin' })).token, node: globalId('ComputeNode', nodes[i]!.id) }
    }),
  )
}

test(`${ADMINS} admins, ${ADMINS * MUTATIONS_PER_ADMIN} random mutations, ${KILLS} kills: each effect has one entry, seed ${SEED}`, {
  timeout: FAULT_TIMEOUT,
}, async () => {
  const random = seededRandom(SEED)
  const admins = await createAdmins()
  await recordEffects(t)
  const ports = await Promise.all(Array.from({ length: APIS }, freePort))
  for (const port of ports) startApi(port)
  await vi.waitFor(
    () => Promise.all(ports.map(async (port) => expect((await fetch(`http://127.0.0.1:${port}/readyz`)).status).toBe(200))),
    { timeout: 60_000 },
  )
  let done = 0
  let inFlight = 0
  const outcomes = new Map<string, number>()
  const names = Object.keys(MUTATIONS) as (keyof typeof MUTATIONS)[]
  const plans = admins.map((admin, a) => ({
    ...admin,
    mutations: Array.from({ length: MUTATIONS_PER_ADMIN }, (_, i) => {
      const name = names[random(names.length)]!
      const key = `k_${a}_${i}`
      const idempotencyKey = /^(add|create|test)/.test(name) ? `, idempotencyKey: "${key}-${SEED}"` : ''
      return `mutation { it: ${name}(input: { ${MUTATIONS[name](key, admin.node)}${idempotencyKey} }) { __typename ... on Error { message } } }`
    }),
  }))

  /** Repeats a mutation until an API answers it; creates have the same idempotency key in each attempt. */
  async function ask(token: string, query: string): Promise<void> {
    await vi.waitFor(
      async () => {
        const port = ports[Math.floor(Math.random() * ports.length)]!
        inFlight++
        try {
          const response = await fetch(`http://127.0.0.1:${port}/graphql`, {
            method: 'POST',
            headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
            body: JSON.stringify({ query }),
          })
          const answer = (await response.json()) as { data?: { it: { __typename: string; message?: string } }; errors?: unknown }
          if (!answer.data) throw new Error(JSON.stringify(answer.errors))
          const { __typename, message } = answer.data.it
          const outcome = `${__typename} ${message?.replace(/\d+/g, 'N') ?? ''}`
          outcomes.set(outcome, (outcomes.get(outcome) ?? 0) + 1)
        } finally {
          inFlight--
        }
      },
      { timeout: TIMEOUT_MS },
    )
    done++
  }
  const work = Promise.all(
    plans.map(async ({ token, mutations }) => {
      for (const query of mutations) await ask(token, query)
    }),
  )
  const total = ADMINS * MUTATIONS_PER_ADMIN
  for (let kill = 0; kill < KILLS; kill++) {
    await vi.waitFor(() => expect(inFlight > 0 && done >= (kill * total) / (KILLS + 1)).toBe(true), {
      timeout: TIMEOUT_MS,
      interval: 1,
    })
    const port = ports[kill % APIS]!
    const child = apis.get(port)!
    const ended = once(child, 'exit')
    child.kill('SIGKILL')
    await ended
    startApi(port)
    await sealAuditEntries(t.runtime)
  }
  await work
  expect(done).toBe(total)
  // Another outcome than success is possible only when an attempt succeeded without an answer.
  expect([...outcomes.keys()].filter((outcome) => !/Payload $|already|ConflictError/.test(outcome))).toEqual([])
  expect(await findViolations(t, ACTIONS)).toEqual([])
  expect(await countEntries(t)).toBeGreaterThanOrEqual(total * 0.8)
  await sealAuditEntries(t.runtime)
  expect(await verifyAuditChain(fixture.owner)).toMatchObject({ problems: [], unsealedCount: 0, hasMore: false })
})

test('finds a verb that writes its entry outside of its transaction, twice or not at all', async () => {
  const change = (tx: Pick<typeof t.runtime.db, 'update'>) =>
    tx
      .update(computeNodes)
      .set({ notes: `changed ${Math.random()}` })
      .where(eq(computeNodes.name, 'own001'))
  const [node] = await t.runtime.db.select().from(computeNodes).where(eq(computeNodes.name, 'own001'))
  const entry = (tx: Parameters<typeof audit>[0]) => audit(tx, fixture.admin, nodeAudit.update, node!)
  const planted = {
    outside: async () => {
      await t.runtime.db.transaction((tx) => change(tx))
      await t.runtime.db.transaction((tx) => entry(tx))
    },
    twice: () =>
      t.runtime.db.transaction((tx) =>
        change(tx)
          .then(() => entry(tx))
          .then(() => entry(tx)),
      ),
    missing: () => t.runtime.db.transaction((tx) => change(tx)),
  }
  const found: Record<string, number> = {}
  for (const [name, bug] of Object.entries(planted)) {
    const before = (await findViolations(t, ACTIONS)).length
    await bug()
    found[name] = (await findViolations(t, ACTIONS)).length - before
  }
  expect(found).toEqual({ outside: 2, twice: 1, missing: 1 })
})
