import { execFile } from 'node:child_process'
import { createPublicKey } from 'node:crypto'
import { promisify } from 'node:util'
import { encodeHeartbeat, publicKey, sign, verify } from '@muster/protocol'
import type { Bench } from '../bench.ts'
import { agentKey, heartbeatOf, seedAgents } from '../bench-agents.ts'
import type { Sample } from '../compare.ts'
import { startEtcd } from '../etcd-peer.ts'
import { startLoad } from '../load/run-heartbeats.ts'
import { startProduct } from '../product.ts'

const AGENTS = 4000
const HEARTBEATS = 4
const CONNECTIONS = 128
const WARM_UPS = 3
const MAX_P99_MS = 100

/**
 * Durable heartbeats per CPU second of the API and Postgres, from HTTP to COMMIT. Peers: signatures that OpenSSL verifies per CPU second,
 * and leased puts of the same size into etcd, which verifies none; both sync to the same disk. A separate process signs the load
 * beforehand. Sizes: `--agents`, `--heartbeats` (per agent).
 *
 * The rate of our own verifier limits the first ratio and is measured in the same run. verify.ts explains why heartbeats are verified
 * one by one.
 */
export const bench: Bench = async ({ rounds, print, option }) => {
  const agents = option('agents', AGENTS)
  const heartbeats = option('heartbeats', HEARTBEATS)
  const product = await startProduct({}, { fsync: 'on', synchronous_commit: 'on', full_page_writes: 'on' })
  const etcd = await startEtcd()
  try {
    await seedAgents(product.databaseUrl, agents)
    const serverCpu = () => product.cpu().api + product.cpu().postgres
    let sequence = 1
    const run = async (badPercent: number) => {
      const load = await startLoad(product.url, agents, heartbeats, CONNECTIONS, sequence, badPercent)
      sequence += heartbeats
      const before = serverCpu()
      const result = await load.go()
      const cpu = serverCpu() - before
      const sent = agents * heartbeats
      const expected = Math.round((sent * (100 - badPercent)) / 100)
      const { accepted = 0, signature_invalid: bad = 0 } = result.answers
      if (accepted !== expected || accepted + bad !== sent)
        throw new Error(`expected ${expected} of ${sent} heartbeats to be accepted: ${JSON.stringify(result.answers)}`)
      print(
        `${accepted} of ${result.bytes} bytes in ${(result.ms / 1000).toFixed(2)} s, ${cpu.toFixed(2)} s of CPU, p99 ${result.p99.toFixed(0)} ms`,
      )
      return { perCpu: sent / cpu, acceptedPerCpu: accepted / cpu, p99: result.p99, bytes: result.bytes }
    }
    // Connections, prepared statements, caches and compiled code exist before the first measurement.
    for (let i = 0; i < WARM_UPS; i++) await run(0)
    const samples: Record<'openssl' | 'etcd' | 'bad' | 'p99', Sample[]> = { openssl: [], etcd: [], bad: [], p99: [] }
    for (let round = 0; round < rounds; round++) {
      const clean = await run(0)
      const mixed = await run(10)
      const verifications = await opensslVerifications()
      const puts = await etcd.put({ count: agents, connections: CONNECTIONS, bytes: clean.bytes })
      print(
        `per CPU second: OpenSSL ${verifications.toFixed(0)} verifications, our verifier ${ownVerifications().toFixed(0)}; etcd ${puts.perCpu.toFixed(0)} puts, p99 ${puts.p99.toFixed(0)} ms`,
      )
      samples.openssl.push({ ours: clean.acceptedPerCpu, peer: verifications })
      samples.etcd.push({ ours: clean.acceptedPerCpu, peer: puts.perCpu })
      samples.bad.push({ ours: mixed.acceptedPerCpu, peer: clean.perCpu })
      samples.p99.push({ ours: clean.p99, peer: MAX_P99_MS })
    }
    const unit = 'heartbeats/CPU-s'
    return [
      { comparison: { what: 'heartbeats_vs_openssl_verify', unit, kind: 'throughput', goal: 0.6 }, samples: samples.openssl },
      { comparison: { what: 'heartbeats_vs_etcd_leased_put', unit, kind: 'throughput', goal: 2 }, samples: samples.etcd },
      { comparison: { what: 'ten_percent_bad_vs_clean', unit, kind: 'throughput', goal: 0.5 }, samples: samples.bad },
      { comparison: { what: 'p99_vs_100ms', unit: 'ms', kind: 'cost', goal: 1 }, samples: samples.p99 },
    ]
  } finally {
    await etcd.stop()
    await product.stop()
  }
}

/** Verifications of one heartbeat per CPU second with the API's verifier. */
function ownVerifications(count = 3000): number {
  const privateKey = agentKey(0)
  const key = publicKey(createPublicKey(privateKey).export({ format: 'der', type: 'spki' }).subarray(-32).toString('base64'))
  const signed = encodeHeartbeat(heartbeatOf(0, 1, new Date()))
  const { signature } = sign(signed, privateKey, new Date())
  const before = process.cpuUsage()
  for (let i = 0; i < count; i++) if (!verify(signed, signature, key)) throw new Error('a valid signature was rejected')
  const { user, system } = process.cpuUsage(before)
  return (count / (user + system)) * 1e6
}

/** Verifications of one thread per second of its CPU time. */
async function opensslVerifications(): Promise<number> {
  const { stdout } = await promisify(execFile)('openssl', ['speed', '-mr', '-seconds', '2', 'ed25519'])
  const perSecond = Number(/^\+F\d+:\d+:\d+:Ed25519:[\d.]+:([\d.]+)$/m.exec(stdout)?.[1])
  if (!(perSecond > 0)) throw new Error(`cannot parse the output of openssl speed: ${stdout}`)
  return perSecond
}
