import { closeSync, existsSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { FAULT_TIMEOUT, isLong, scaleIterations } from '@muster/core/testing'
import pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, it, vi } from 'vitest'
import { bodyOf, openLine } from './agent-line.ts'
import { seedAgents } from './bench-agents.ts'
import { type Client, connect } from './client.ts'
import { collide } from './collide.ts'
import { addUnreachableNode, followRun, readRun, runJob, signIn } from './onboard.ts'
import { type Product, startProduct } from './product.ts'

const FAULTS = scaleIterations(20)
const LINES = scaleIterations(1_000_000)
const LINES_OF_PART = Math.ceil(LINES / (FAULTS + 1))
const FOLLOWERS = Math.max(20, scaleIterations(200))
const WRITERS = 3
// Reached only when something hangs.
const SILENCE_MS = 300_000
const AGENTS = isLong ? 1000 : 250
const LINES_OF_AGENTS = isLong ? 100 : 25
const RECORDED = isLong ? scaleIterations(1_000_000) : 1000
const RACES = scaleIterations(100_000)

// A fake ansible-playbook: the tests cover the processing of its output, not Ansible. It ends collect_facts immediately. For other
// playbooks it prints lines in parts and waits before each for a file that the test creates, so that faults occur during the run. Short
// pauses split the lines into many events.
const FAKE = `#!/bin/sh
case "$*" in
  *--version*) echo 'ansible-playbook [core 2.19.0]'; exit ;;
  *collect_facts*) echo 'a fact'; exit ;;
esac
for part in $(seq 0 ${FAULTS}); do
  until rm "$(dirname "$0")/go$part" 2>&-; do sleep 0.1; done
  awk 'BEGIN { for (i = 1; i <= ${LINES_OF_PART}; i++) { print "line " i; if (i % 200 == 0) system("sleep 0.02") } }'
done
`

let dir: string
let product: Product
let api: Client

const goFile = (part: number) => join(dir, `go${part}`)
const go = (part: number) => writeFileSync(goFile(part), '')
const hasBegun = (part: number) => !existsSync(goFile(part))

// A failed test may have left files.
beforeEach(() => {
  for (let part = 0; part <= FAULTS; part++) rmSync(goFile(part), { force: true })
})

beforeAll(async () => {
  dir = mkdtempSync(join(tmpdir(), 'mf-'))
  writeFileSync(join(dir, 'ansible-playbook'), FAKE, { mode: 0o755 })
  // Commits must survive a crash of Postgres.
  product = await startProduct(
    // Isolation would hide the files of the fake program.
    { ANSIBLE_PLAYBOOK: join(dir, 'ansible-playbook'), ANSIBLE_ISOLATION: 'none', JOB_CANCEL_GRACE_PERIOD: '2' },
    { synchronous_commit: 'on' },
  )
  let token: string | null = null
  api = connect(product.url, () => token)
  token = await signIn(api, product.linkToken)
  await addUnreachableNode(api, 'node1')
}, FAULT_TIMEOUT)

afterAll(async () => {
  await product?.stop()
  rmSync(dir, { recursive: true, force: true })
})

const statusOf = async (id: string) => (await readRun(api, id)).status

/**
 * Follows a run to its end across lost connections.
 * @param isBack resolves when the API is back: hundreds of clients that reconnect in a loop would delay its start
 * @returns every seq in the received order
 * @throws Error when the run does not exist, or no event arrives for a long time
 */
async function followAll(id: string, onEvents = () => {}, isBack: () => Promise<void> | null = () => null): Promise<number[]> {
  const seqs: number[] = []
  const silence = new AbortController()
  const clock = setTimeout(() => silence.abort(), SILENCE_MS)
  let lastError: unknown
  try {
    while (!silence.signal.aborted) {
      try {
        for await (const batch of followRun(api, id, seqs.at(-1) ?? 0, silence.signal)) {
          clock.refresh()
          for (const event of batch.events) seqs.push(event.seq)
          onEvents()
        }
        if (!silence.signal.aborted) return seqs
      } catch (error) {
        lastError = error
        if (String(error).includes('There is no run')) throw error
        // The API or its database is down and will be restarted.
        await isBack()
        await new Promise((resolve) => setTimeout(resolve, 100))
      }
    }
  } finally {
    clearTimeout(clock)
  }
  throw new Error(`No event arrived for ${SILENCE_MS / 1000} s after event ${seqs.at(-1) ?? 0}.`, { cause: lastError })
}

const from1to = (n: number) => Array.from({ length: n }, (_, i) => i + 1)

/**
 * Follows a run with several clients to its end. Once a share of them, which grows with each part of the log, has received events of the
 * part, `inject` causes a fault; then the next part starts.
 */
async function followTogether(id: string, clients: number, inject: () => Promise<void>): Promise<number[][]> {
  let part = 0
  let seeing = new Set<number>()
  let happening: Promise<void> | null = null
  const onEvents = (client: number) => {
    if (happening || part === FAULTS || !hasBegun(part)) return
    if (seeing.add(client).size < (clients * (part + 1)) / (FAULTS + 1)) return
    happening = inject().then(() => {
      seeing = new Set()
      happening = null
      go(++part)
    })
  }
  go(0)
  const follow = (_: unknown, client: number) =>
    followAll(
      id,
      () => onEvents(client),
      () => happening,
    )
  return Promise.all(Array.from({ length: clients }, follow))
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

const uuidOf = (id: string) => Buffer.from(id, 'base64').toString().split(':')[1]!

/** Expects every line of the log once and in order, and every event at each follower. */
async function expectComplete(id: string, all: number[][]): Promise<void> {
  const [stored] = await query<{ events: number; lines: number; wrong: string | null }>(
    `select max(seq)::int as events, count(line)::int as lines,
       min(line) filter (where line <> 'line ' || (n - 1) % $2::int + 1) as wrong
     from (
       select seq, line, row_number() over (partition by line is null order by seq, place) as n
       from job_run_events
       left join regexp_split_to_table(stdout, E'\\n') with ordinality as shown(line, place) on kind = 'output'
       where job_run_id = $1
     ) log`,
    [uuidOf(id), LINES_OF_PART],
  )
  expect(stored).toMatchObject({ lines: LINES_OF_PART * (FAULTS + 1), wrong: null })
  for (const seqs of all) expect(seqs).toEqual(from1to(stored!.events))
  expect(await statusOf(id)).toBe('SUCCEEDED')
}

describe('faults', { timeout: FAULT_TIMEOUT }, () => {
  it(`${FOLLOWERS} followers of ${LINES} lines receive every event once while the API is killed ${FAULTS} times`, async () => {
    const id = await runJob(api, { template: 'connectivity_check', limit: 'node1' })
    const all = await followTogether(id, FOLLOWERS, async () => {
      await product.kill('api')
      await product.start('api')
    })
    await expectComplete(id, all)
  })

  it(`no acknowledged run is lost when Postgres is killed ${FAULTS} times under load`, async () => {
    let isFinished = false
    const acknowledged = new Map<string, string>()
    let acknowledge = () => {}
    const write = async (_: unknown, writer: number) => {
      for (let n = 0; !isFinished; n++) {
        const idempotencyKey = `${writer}-${n}`
        const id = await vi.waitFor(() => runJob(api, { template: 'collect_facts', limit: 'node1', idempotencyKey }), 120_000)
        acknowledged.set(idempotencyKey, uuidOf(id))
        acknowledge()
        await followAll(id)
      }
    }
    const id = await runJob(api, { template: 'connectivity_check', limit: 'node1' })
    const followed = followTogether(id, 3, async () => {
      // The worst moment: directly after an acknowledgment.
      await new Promise<void>((resolve) => {
        acknowledge = resolve
      })
      await product.crashPostgres()
    }).finally(() => {
      isFinished = true
    })
    const [all] = await Promise.all([followed, ...Array.from({ length: WRITERS }, write)])
    await expectComplete(id, all)

    const runs = await query<{ key: string; id: string; status: string; ends: number }>(
      `select k.key, r.id, r.status,
         (select count(*)::int from job_run_events where job_run_id = r.id and kind = 'run_end') as ends
       from job_runs r join idempotency_keys k on k.result ->> 0 = r.id::text`,
    )
    expect(new Map(runs.map((run) => [run.key, run.id]))).toEqual(acknowledged)
    expect(runs.filter((run) => run.status !== 'SUCCEEDED' || run.ends !== 1)).toEqual([])
    expect(product.failed).toEqual([])
  })
})

describe('heartbeats', { timeout: FAULT_TIMEOUT }, () => {
  beforeAll(() => seedAgents(product.databaseUrl, AGENTS))

  /** Runs `work` on concurrent connections, each with its own agents. */
  async function onLines(url: string, work: (send: (body: Uint8Array) => Promise<string>, agents: number[]) => Promise<void>) {
    const agents = Array.from({ length: AGENTS }, (_, i) => i)
    await Promise.all(
      Array.from({ length: LINES_OF_AGENTS }, async (_, k) => {
        const line = await openLine(url)
        await work(
          line.send,
          agents.filter((i) => i % LINES_OF_AGENTS === k),
        ).finally(line.close)
      }),
    )
  }

  /** Recorded bodies; each follows its length. */
  function* recorded(file: string): Generator<Buffer> {
    const all = readFileSync(file)
    for (let at = 0; at < all.length; ) {
      const length = all.readUInt32LE(at)
      yield all.subarray(at + 4, at + 4 + length)
      at += 4 + length
    }
  }

  it(`none of ${RECORDED} recorded heartbeats is accepted again after the API and Postgres are killed ${FAULTS} times`, async () => {
    const sequences = new Array<number>(AGENTS).fill(0)
    const file = join(dir, 'recorded')
    const answers: Record<string, number> = {}
    let total = 0
    for (let fault = 0; fault < FAULTS; fault++) {
      const log = openSync(file, 'w')
      const until = Math.ceil(((fault + 1) * RECORDED) / FAULTS)
      let dying: Promise<unknown> | undefined
      await onLines(product.url, async (send, agents) => {
        for (let turn = 0; !dying; turn++) {
          const i = agents[turn % agents.length]!
          // In the future, so that the timestamp is still valid in the replay.
          const body = bodyOf(i, ++sequences[i]!, new Date(Date.now() + 200_000))
          const answer = await send(body).catch(() => null)
          if (dying && answer !== 'accepted') return
          expect(answer).toBe('accepted')
          const length = Buffer.alloc(4)
          length.writeUInt32LE(body.length)
          writeSync(log, Buffer.concat([length, body]))
          if (++total === until) dying = Promise.all([product.crashPostgres(), product.kill('api')])
        }
      })
      closeSync(log)
      await dying
      await product.start('api')
      const again = recorded(file)
      await onLines(product.url, async (send) => {
        for (const body of again) {
          const answer = await send(body)
          answers[answer] = (answers[answer] ?? 0) + 1
        }
      })
    }
    expect(answers).toEqual({ stale_sequence: total })
    expect(total).toBeGreaterThanOrEqual(RECORDED)
  })

  it(`each of ${RACES} heartbeats sent to two API processes at once is accepted once`, async () => {
    await product.start('second-api')
    const answers = await collide(
      product.databaseUrl,
      [
        { url: product.url, metricsUrl: product.metricsUrl('api') },
        { url: product.secondUrl, metricsUrl: product.metricsUrl('second-api') },
      ],
      AGENTS,
      RACES,
    )
    expect(Object.keys(answers)).toEqual(['accepted,stale_sequence'])
    expect(answers['accepted,stale_sequence']).toBeGreaterThanOrEqual(RACES)
    expect(product.failed).toEqual([])
  })
})
