import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { type Client, connect } from './client.ts'
import { addSilentNode, followRun, runJob, signIn } from './onboard.ts'
import { type Product, startProduct } from './product.ts'

const LINES = 100_000
const CLIENTS = 20

// In the place of ansible-playbook: what is tried here is what we do with its output and its end, not Ansible. Halfway it
// waits until the test lets it go on, so that whatever is to happen in the middle of a run does.
const FAKE = `#!/bin/sh
case "$*" in *--version*) echo 'ansible-playbook [core 2.19.0]'; exit 0;; esac
awk 'BEGIN { for (i = 1; i <= ${LINES / 2}; i++) print "line " i }'
while [ ! -e "$(dirname "$0")/go" ]; do sleep 0.1; done
awk 'BEGIN { for (i = ${LINES / 2} + 1; i <= ${LINES}; i++) print "line " i }'
`

let dir: string
let product: Product
let api: Client

const go = () => writeFileSync(join(dir, 'go'), '')

beforeEach(() => rmSync(join(dir, 'go'), { force: true }))

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'mf-'))
  writeFileSync(join(dir, 'ansible-playbook'), FAKE, { mode: 0o755 })
  // Whoever takes a commit for done must find it after a crash.
  product = await startProduct(
    { ANSIBLE_PLAYBOOK: join(dir, 'ansible-playbook'), JOB_CANCEL_GRACE_PERIOD: '2' },
    { synchronous_commit: 'on' },
  )
  let token: string | null = null
  api = connect(product.url, () => token)
  token = await signIn(api, product.linkToken)
  await addSilentNode(api, 'node1')
}, 120_000)

afterAll(async () => {
  await product?.stop()
  rmSync(dir, { recursive: true, force: true })
})

const statusOf = async (id: string) => {
  const { node } = await api.request<{ node: { status: string; statusReason: string | null } }>(
    'query ($id: ID!) { node(id: $id) { ... on JobRun { status statusReason } } }',
    { id },
  )
  return node
}

/** Follow to the end, over as many lost connections as it takes. @returns every seq in the order it came */
async function followAll(id: string, onEvents: (seen: number) => void): Promise<number[]> {
  const seqs: number[] = []
  while (true) {
    try {
      for await (const batch of followRun(api, id, seqs.at(-1) ?? 0)) {
        for (const event of batch.events) seqs.push(event.seq)
        onEvents(seqs.length)
      }
      return seqs
    } catch {
      // The API or its database is away. It comes back; so do we, a little later.
      await new Promise((resolve) => setTimeout(resolve, 100))
    }
  }
}

const from1to = (n: number) => Array.from({ length: n }, (_, i) => i + 1)

/** Follow with several clients to the end; once each of them has seen something, `happens` does, and then the run goes on. */
async function followTogether(id: string, clients: number, happens: () => Promise<void>): Promise<number[][]> {
  const began = new Set<number>()
  let happened: Promise<void> | null = null
  const all = await Promise.all(
    Array.from({ length: clients }, (_, client) =>
      followAll(id, () => {
        if (began.add(client).size === clients) happened ??= happens().then(go)
      }),
    ),
  )
  await happened
  return all
}

async function query<T>(sql: string, values: unknown[] = []): Promise<T[]> {
  const db = new pg.Client({ connectionString: product.databaseUrl })
  await db.connect()
  try {
    return (await db.query(sql, values)).rows as T[]
  } finally {
    await db.end()
  }
}

async function countEvents(id: string): Promise<{ events: number; lines: number; ends: number }> {
  const [counts] = await query<{ events: number; lines: number; ends: number }>(
    `select count(*)::int as events, sum(line_count)::int as lines, (count(*) filter (where kind = 'run_end'))::int as ends
       from job_run_events where job_run_id = $1`,
    [Buffer.from(id, 'base64').toString().split(':')[1]],
  )
  return counts!
}

/** Command lines of processes that work in the folders of runs, by process id. */
function processesOfRuns(): Map<string, string> {
  const found = new Map<string, string>()
  for (const pid of readdirSync('/proc').filter((name) => /^\d+$/.test(name)))
    try {
      const line = readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
      if (line.includes(join(dir, 'ansible-playbook')) || line.includes(join(product.dir, 'runs'))) found.set(pid, line)
    } catch {
      // It ended while we looked.
    }
  return found
}

describe('when parts of it die', () => {
  it(`gives ${CLIENTS} followers of ${LINES} lines every event once though the API is killed`, { timeout: 180_000 }, async () => {
    const id = await runJob(api, { template: 'connectivity_check', limit: 'node1' })
    const all = await followTogether(id, CLIENTS, async () => {
      await product.kill('api')
      await product.start('api')
    })
    const { events, lines } = await countEvents(id)
    expect(lines).toBeGreaterThanOrEqual(LINES)
    for (const seqs of all) expect(seqs).toEqual(from1to(events))
    expect((await statusOf(id)).status).toBe('SUCCEEDED')
  })

  it('loses nothing of a run when Postgres restarts under load', { timeout: 180_000 }, async () => {
    const id = await runJob(api, { template: 'connectivity_check', limit: 'node1' })
    const all = await followTogether(id, 3, async () => {
      // One backend killed hard makes the server drop every connection and recover, as after a crash.
      const db = new pg.Client({ connectionString: product.databaseUrl })
      const dropped = new Promise((resolve) => db.once('error', resolve))
      await db.connect()
      const { rows } = await db.query<{ pid: number }>('select pg_backend_pid() as pid')
      process.kill(rows[0]!.pid, 'SIGKILL')
      await dropped
    })
    const { events, lines } = await countEvents(id)
    expect(lines).toBeGreaterThanOrEqual(LINES)
    for (const seqs of all) expect(seqs).toEqual(from1to(events))
    expect((await statusOf(id)).status).toBe('SUCCEEDED')
  })

  it('ends the run of a killed worker as ERROR, once, or starts it again if it may be', { timeout: 240_000 }, async () => {
    await query(`update job_templates set is_idempotent = name = 'collect_facts'`)
    const [once, again] = await Promise.all(
      ['connectivity_check', 'collect_facts'].map((template) => runJob(api, { template, limit: 'node1' })),
    )
    for (const id of [once!, again!])
      for await (const batch of followRun(api, id, 0)) if (batch.events.some((e) => e.kind === 'output')) break
    const orphans = processesOfRuns()
    expect(orphans.size).toBeGreaterThanOrEqual(2)

    const began = Date.now()
    await product.kill('worker')
    await product.start('worker')
    await followAll(once!, () => {})
    expect(Date.now() - began).toBeLessThan(60_000)
    expect(await statusOf(once!)).toEqual({ status: 'ERROR', statusReason: expect.stringMatching(/worker/) })
    expect((await countEvents(once!)).ends).toBe(1)
    expect([...processesOfRuns()].filter(([pid]) => orphans.has(pid))).toEqual([])

    go()
    expect(await followAll(again!, () => {})).toEqual(from1to((await countEvents(again!)).events))
    expect((await statusOf(again!)).status).toBe('SUCCEEDED')
  })
})
