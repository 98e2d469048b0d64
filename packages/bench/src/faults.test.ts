import { execFileSync } from 'node:child_process'
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type Client, connect } from './client.ts'
import { followRun, runJob, signIn } from './onboard.ts'
import { type Product, startProduct } from './product.ts'

const LINES = 100_000
const CLIENTS = 20

// In the place of ansible-playbook: what is tried here is what we do with its output and its end, not Ansible.
const FAKE = `#!/bin/sh
case "$*" in *--version*) echo 'ansible-playbook [core 2.19.0]'; exit 0;; esac
if grep -qs hang_around -r . ; then echo started; sleep 600 & wait; fi
awk 'BEGIN { for (i = 1; i <= ${LINES}; i++) print "line " i }'
`

let dir: string
let product: Product
let api: Client

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'mf-'))
  writeFileSync(join(dir, 'ansible-playbook'), FAKE, { mode: 0o755 })
  product = await startProduct({ ANSIBLE_PLAYBOOK: join(dir, 'ansible-playbook'), JOB_CANCEL_GRACE_PERIOD: '2' })
  let token: string | null = null
  api = connect(product.url, () => token)
  token = await signIn(api, product.linkToken)
  await addNode()
}, 120_000)

afterAll(async () => {
  await product?.stop()
  rmSync(dir, { recursive: true, force: true })
})

/** A node that nobody connects to: the fake never leaves this machine. */
async function addNode(): Promise<void> {
  const ERROR = '... on Error { code message }'
  const { id } = await api.mutate<{ id: string }>(
    `mutation { createCredential(input: { name: "p", kind: SSH_PASSWORD, username: "ops", password: "secret-of-p" }) { __typename ... on Credential { id } ${ERROR} } }`,
  )
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-N', '', '-f', join(dir, 'host')])
  const hostKey = readFileSync(join(dir, 'host.pub'), 'utf8').split(' ').slice(0, 2).join(' ')
  await api.mutate(
    `mutation ($input: AddNodeInput!) { addNode(input: $input) { __typename ... on ComputeNode { id } ${ERROR} } }`,
    { input: { name: 'node1', host: '127.0.0.1', port: 9, credentialId: id, hostKey } },
  )
}

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

async function countEvents(id: string): Promise<{ events: number; lines: number; ends: number }> {
  const db = new pg.Client({ connectionString: product.databaseUrl })
  await db.connect()
  const uuid = Buffer.from(id, 'base64').toString().split(':')[1]
  const { rows } = await db.query(
    `select count(*)::int as events, sum(line_count)::int as lines, (count(*) filter (where kind = 'run_end'))::int as ends from job_run_events where job_run_id = $1`,
    [uuid],
  )
  await db.end()
  return rows[0]
}

/** Processes that work in the product's folder, other than the product's own. */
function leftOfRuns(): string[] {
  return readdirSync('/proc')
    .filter((pid) => /^\d+$/.test(pid))
    .map((pid) => {
      try {
        return readFileSync(`/proc/${pid}/cmdline`, 'utf8').replaceAll('\0', ' ')
      } catch {
        return ''
      }
    })
    .filter((line) => line.includes(join(dir, 'ansible-playbook')) || line.includes(join(product.dir, 'runs')))
}

describe('when parts of it die', () => {
  it(`gives ${CLIENTS} followers of ${LINES} lines every event once though the API is killed`, { timeout: 180_000 }, async () => {
    const id = await runJob(api, { template: 'connectivity_check', limit: 'node1' })
    let killed: Promise<void> | null = null
    const restart = async () => {
      await product.kill('api')
      await product.start('api')
    }
    const all = await Promise.all(
      Array.from({ length: CLIENTS }, () =>
        followAll(id, (seen) => {
          if (seen > 50) killed ??= restart()
        }),
      ),
    )
    expect(killed).not.toBeNull()
    await killed
    const { events, lines } = await countEvents(id)
    expect(lines).toBeGreaterThanOrEqual(LINES)
    for (const seqs of all) expect(seqs).toEqual(from1to(events))
    expect((await statusOf(id)).status).toBe('SUCCEEDED')
  })

  it('loses nothing of a run when Postgres restarts under load', { timeout: 180_000 }, async () => {
    const id = await runJob(api, { template: 'connectivity_check', limit: 'node1' })
    let crashed: Promise<void> | null = null
    // One backend killed hard makes the server drop every connection and recover, as after a crash.
    const crash = async () => {
      const db = new pg.Client({ connectionString: product.databaseUrl })
      db.on('error', () => {})
      await db.connect()
      const { rows } = await db.query<{ pid: number }>('select pg_backend_pid() as pid')
      process.kill(rows[0]!.pid, 'SIGKILL')
    }
    const all = await Promise.all(
      Array.from({ length: 3 }, () =>
        followAll(id, (seen) => {
          if (seen > 20) crashed ??= crash()
        }),
      ),
    )
    expect(crashed).not.toBeNull()
    const { events, lines } = await countEvents(id)
    expect(lines).toBeGreaterThanOrEqual(LINES)
    for (const seqs of all) expect(seqs).toEqual(from1to(events))
    expect((await statusOf(id)).status).toBe('SUCCEEDED')
  })

  it('ends the run of a killed worker as ERROR, once, and leaves no process of it', { timeout: 120_000 }, async () => {
    const id = await runJob(api, { template: 'connectivity_check', limit: 'node1', extraVars: { hang_around: 'yes' } })
    for await (const batch of followRun(api, id, 0)) if (batch.events.some((e) => e.kind === 'output')) break
    expect(leftOfRuns()).not.toEqual([])
    const began = Date.now()
    await product.kill('worker')
    await product.start('worker')
    for await (const batch of followRun(api, id, 0)) void batch
    expect(Date.now() - began).toBeLessThan(60_000)
    const { status, statusReason } = await statusOf(id)
    expect(status).toBe('ERROR')
    expect(statusReason).toMatch(/worker/)
    expect((await countEvents(id)).ends).toBe(1)
    expect(leftOfRuns()).toEqual([])
  })
})
