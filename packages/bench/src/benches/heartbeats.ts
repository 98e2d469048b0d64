import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import type { Bench } from '../bench.ts'
import { seedAgents } from '../bench-agents.ts'
import { startEtcd } from '../etcd-peer.ts'
import { startProduct } from '../product.ts'

const AGENTS = 4000
const BEATS = 4
const CONNECTIONS = 128
const LOAD = fileURLToPath(new URL('../stand-ins/heartbeat-load.ts', import.meta.url))
const MOST_P99_MS = 100

type Load = { ms: number; answers: Record<string, number>; p99: number; bytes: number }

/**
 * Durable heartbeats, from HTTP to COMMIT, for each second of CPU of the API and all of Postgres: against the signatures that OpenSSL
 * verifies in a second of CPU, and against leased puts of the same bytes into etcd. The load is signed beforehand by another process.
 */
export const bench: Bench = async ({ rounds, say }) => {
  const product = await startProduct({}, { fsync: 'on', synchronous_commit: 'on', full_page_writes: 'on' })
  const etcd = await startEtcd()
  try {
    await seedAgents(product.databaseUrl, AGENTS)
    const serverCpu = () => product.cpu().api + product.cpu().postgres
    let sequence = 1
    const run = async (badPercent: number) => {
      const load = await startLoad(product.url, AGENTS, BEATS, CONNECTIONS, sequence, badPercent)
      sequence += BEATS
      const before = serverCpu()
      const result = await load.go()
      const cpu = serverCpu() - before
      const expected = Math.round((AGENTS * BEATS * (100 - badPercent)) / 100)
      const { accepted = 0, signature_invalid: bad = 0 } = result.answers
      if (accepted !== expected || accepted + bad !== AGENTS * BEATS)
        throw new Error(`${JSON.stringify(result.answers)}, not ${expected} accepted`)
      say(
        `${accepted} of ${result.bytes} bytes in ${(result.ms / 1000).toFixed(2)} s, ${cpu.toFixed(2)} s of CPU, p99 ${result.p99.toFixed(0)} ms`,
      )
      return { perCpu: (AGENTS * BEATS) / cpu, acceptedPerCpu: accepted / cpu, p99: result.p99, bytes: result.bytes }
    }
    // Connections, prepared statements and memory of agents are there before anything is measured.
    await run(0)
    const samples: Record<'openssl' | 'etcd' | 'bad', { ours: number; peer: number }[]> = { openssl: [], etcd: [], bad: [] }
    for (let round = 0; round < rounds; round++) {
      const clean = await run(0)
      const mixed = await run(10)
      const verifications = await opensslVerifications()
      const puts = await etcd.put({ count: 4000, connections: CONNECTIONS, bytes: clean.bytes })
      say(
        `OpenSSL verifies ${verifications.toFixed(0)} a second; etcd puts ${puts.perCpu.toFixed(0)} a second of CPU, p99 ${puts.p99.toFixed(0)} ms`,
      )
      if (clean.p99 > MOST_P99_MS) say(`p99 is above ${MOST_P99_MS} ms`)
      samples.openssl.push({ ours: clean.acceptedPerCpu, peer: verifications })
      samples.etcd.push({ ours: clean.acceptedPerCpu, peer: puts.perCpu })
      samples.bad.push({ ours: mixed.perCpu, peer: clean.perCpu })
    }
    const unit = 'heartbeats/CPU-s'
    return [
      { comparison: { what: 'heartbeats_vs_openssl_verify', unit, kind: 'throughput', goal: 0.6 }, samples: samples.openssl },
      { comparison: { what: 'heartbeats_vs_etcd_leased_put', unit, kind: 'throughput', goal: 10 }, samples: samples.etcd },
      { comparison: { what: 'ten_percent_bad_vs_clean', unit, kind: 'throughput', goal: 0.5 }, samples: samples.bad },
    ]
  } finally {
    await etcd.stop()
    await product.stop()
  }
}

async function startLoad(...args: (string | number)[]): Promise<{ go(): Promise<Load> }> {
  const child = spawn(process.execPath, [LOAD, ...args.map(String)], { stdio: ['pipe', 'pipe', 'inherit'] })
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
  const next = async () => {
    const { value, done } = await lines.next()
    if (done) throw new Error('the load ended early')
    return value
  }
  await next()
  return {
    async go() {
      child.stdin.write('go\n')
      const result = JSON.parse(await next()) as Load
      if (child.exitCode === null) await once(child, 'exit')
      return result
    },
  }
}

/** In one thread, a second of its own CPU time. */
async function opensslVerifications(): Promise<number> {
  const { stdout } = await promisify(execFile)('openssl', ['speed', '-mr', '-seconds', '2', 'ed25519'])
  const perSecond = Number(/^\+F\d+:\d+:\d+:Ed25519:[\d.]+:([\d.]+)$/m.exec(stdout)?.[1])
  if (!(perSecond > 0)) throw new Error(`openssl speed said: ${stdout}`)
  return perSecond
}
