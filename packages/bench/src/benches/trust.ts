import { consoleQuery } from '@muster/core/testing'
import pg from 'pg'
import type { Bench } from '../bench.ts'
import { seedAgents } from '../bench-agents.ts'
import { connect, textOf } from '../client.ts'
import { interleave, interleaveTurns, type Sample } from '../compare.ts'
import { cpuSeconds } from '../cpu.ts'
import { NODE_PAGE } from '../documents.ts'
import { seedFleet } from '../fleet.ts'
import { createAppends } from '../load/audit-appends.ts'
import { createMeter, dataOf, type Target } from '../load/http-meter.ts'
import { startLoad } from '../load/run-heartbeats.ts'
import { createSignIns } from '../load/sign-ins.ts'
import { createViewerToken, signIn } from '../onboard.ts'
import { type Product, startProduct } from '../product.ts'

const NODES = 10_000
const PAGE = 50
const AGENTS = 2000
const HEARTBEATS = 4
/** Few, so that no two heartbeats of one agent overtake each other. */
const CONNECTIONS = 32
/** Connections, prepared statements, caches and compiled code exist before the first measurement. */
const WARM_UPS = 4
/** The policies are switched after each turn. */
const PAGE_TURNS = 6
const PAGE_TURN_SECONDS = 2
const HEARTBEAT_TURNS = 4
const REFUSED = 200
const REJECTED = 20
const SIGN_INS = 10

const ENTRIES = 1000
const PASSWORD = 'a password for one benchmark'

type Results = Awaited<ReturnType<Bench>>

/**
 * What security costs. Row-level security: the same requests per CPU second of the API and Postgres, with the policies of all tables on and
 * off. Audit log: appended entries, compared with rows of a plain table, and the chain, compared with appending. Sign-in: attempts
 * that throttling refuses, compared with checked passwords, and the time of a sign-in while others are refused.
 * Sizes: `--nodes`, `--agents`, `--heartbeats` (per agent), `--entries` (per round).
 */
export const bench: Bench = async ({ rounds, print, option, random }) => {
  const product = await startProduct({ TRUST_PROXY: '1' })
  try {
    let session: string | null = null
    const api = connect(product.url, () => session)
    session = await signIn(api, product.linkToken)
    const token = await createViewerToken(api)
    // It polls the database and does not serve requests.
    await product.kill('worker')
    return [
      ...(await compareSignIns(product, session, { rounds, print, random })),
      ...(await compareAppends(product, { rounds, print, entries: option('entries', ENTRIES) })),
      ...(await compareRowSecurity(product, token, {
        rounds,
        print,
        nodes: option('nodes', NODES),
        agents: option('agents', AGENTS),
        heartbeats: option('heartbeats', HEARTBEATS),
      })),
    ]
  } finally {
    await product.stop()
  }
}

type Options = { rounds: number; print: (text: string) => void }

async function compareRowSecurity(
  product: Product,
  token: string,
  { rounds, print, nodes, agents, heartbeats }: Options & { nodes: number; agents: number; heartbeats: number },
): Promise<Results> {
  await seedFleet(product.databaseUrl, nodes)
  await seedAgents(product.databaseUrl, agents)
  const owner = new pg.Client({ connectionString: product.databaseUrl })
  await owner.connect()
  try {
    const measure = createMeter(() => product.cpu().postgres, PAGE_TURN_SECONDS)
    const results: Results = []
    for (const [what, query] of [
      ['nodes_page_with_row_security', textOf(NODE_PAGE)],
      ['console_nodes_with_row_security', consoleQuery('Nodes')],
    ] as const) {
      const target: Target = {
        url: `${product.url}/graphql`,
        method: 'POST',
        headers: { 'content-type': 'application/json', authorization: `Bearer ${token}` },
        body: JSON.stringify({ query, variables: { first: PAGE } }),
        pid: product.pid('api'),
      }
      const { nodes: page } = await dataOf<{ nodes: { edges: unknown[] } }>(target)
      if (page.edges.length !== PAGE) throw new Error(`expected ${PAGE} nodes, got ${page.edges.length}`)
      const contender = (isOn: boolean) => async () => {
        await switchRowSecurity(owner, isOn)
        // The first requests open connections and plan their statements.
        await measure(target)
        const { answered, cpuMs } = await measure(target)
        return { count: answered, seconds: (answered * cpuMs) / 1000 }
      }
      for (let i = 0; i < WARM_UPS; i++) await contender(i % 2 === 0)()
      const samples = await interleaveTurns(contender(true), contender(false), { turns: PAGE_TURNS, rounds, print })
      results.push({ comparison: { what, unit: 'req/CPU-s', kind: 'throughput', goal: 0.9 }, samples })
    }

    let sequence = 1
    const beat = (isOn: boolean) => async () => {
      await switchRowSecurity(owner, isOn)
      const load = await startLoad(product.url, agents, heartbeats, CONNECTIONS, sequence, 0)
      sequence += heartbeats
      const before = serverCpu(product)
      const { answers } = await load.go()
      const seconds = serverCpu(product) - before
      const sent = agents * heartbeats
      if (answers.accepted !== sent) throw new Error(`expected ${sent} heartbeats to be accepted: ${JSON.stringify(answers)}`)
      return { count: sent, seconds }
    }
    for (let i = 0; i < WARM_UPS; i++) await beat(i % 2 === 0)()
    const samples = await interleaveTurns(beat(true), beat(false), { turns: HEARTBEAT_TURNS, rounds, print })
    const what = 'heartbeats_with_row_security'
    results.push({ comparison: { what, unit: 'heartbeats/CPU-s', kind: 'throughput', goal: 0.9 }, samples })
    return results
  } finally {
    await owner.end()
  }
}

const serverCpu = (product: Product) => product.cpu().api + product.cpu().postgres

/**
 * Switches the policies of all tables that have one. Ends the connections of the application: Postgres would compare the cost of a
 * statement's generic plan with that of its plans from before the switch.
 */
async function switchRowSecurity(owner: pg.Client, isOn: boolean): Promise<void> {
  const { rows } = await owner.query<{ name: string }>(`select relname as name from pg_class where relforcerowsecurity`)
  if (rows.length === 0) throw new Error('no table has row-level security')
  for (const { name } of rows) await owner.query(`alter table ${name} ${isOn ? 'enable' : 'disable'} row level security`)
  await owner.query(
    `select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and usename like '%\\_app' and query not ilike 'listen %'`,
  )
}

async function compareAppends(product: Product, { rounds, print, entries }: Options & { entries: number }): Promise<Results> {
  const appends = await createAppends(product.databaseUrl)
  try {
    /** Rows per second of the CPU of this process and Postgres. */
    const rate = async (work: () => Promise<void>) => {
      const cpu = () => cpuSeconds([process.pid]) + product.cpu().postgres
      const before = cpu()
      await work()
      return entries / (cpu() - before)
    }
    await appends.toAuditLog(entries)
    await appends.toPlainTable(entries)
    await appends.seal()
    const append: Sample[] = []
    const seal: Sample[] = []
    for (let round = 0; round < rounds; round++) {
      const [sample] = await interleave(
        () => rate(() => appends.toAuditLog(entries)),
        () => rate(() => appends.toPlainTable(entries)),
        1,
        print,
      )
      append.push(sample!)
      seal.push({ ours: await rate(() => appends.seal()), peer: sample!.ours })
    }
    const unit = 'rows/CPU-s'
    return [
      { comparison: { what: 'audit_append_vs_plain_insert', unit, kind: 'throughput', goal: 0.3 }, samples: append },
      { comparison: { what: 'audit_seal_vs_append', unit, kind: 'throughput', goal: 2 }, samples: seal },
    ]
  } finally {
    await appends.close()
  }
}

async function compareSignIns(
  product: Product,
  session: string,
  { rounds, print, random }: Options & { random: () => number },
): Promise<Results> {
  const signIns = createSignIns(product.url, () => Math.floor(random() * 1e12))
  await signIns.setPassword(session, PASSWORD)
  await signIns.exhaust()
  const cost = (count: number, send: (count: number) => Promise<void>) => async () => {
    const before = serverCpu(product)
    await send(count)
    return ((serverCpu(product) - before) * 1000) / count
  }
  const email = 'owner@muster.local'
  await signIns.signIn(email, PASSWORD, SIGN_INS)
  const refused = await interleave(cost(REFUSED, signIns.refuse), cost(REJECTED, signIns.reject), rounds, print)
  const latency = await interleave(
    () => signIns.underAttack(() => signIns.signIn(email, PASSWORD, SIGN_INS)),
    () => signIns.signIn(email, PASSWORD, SIGN_INS),
    rounds,
    print,
  )
  return [
    {
      comparison: { what: 'refused_attempt_vs_checked_password', unit: 'ms of CPU', kind: 'cost', goal: 0.5 },
      samples: refused,
    },
    { comparison: { what: 'sign_in_under_throttling', unit: 'ms', kind: 'cost', goal: 3 }, samples: latency },
  ]
}
