import { execFile, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { pickPort } from '@muster/standalone'
import pg from 'pg'
import type { Bench } from '../bench.ts'
import { startNginx } from '../boot/nginx-peer.ts'
import { type Client, connect } from '../client.ts'
import { interleave, type Sample } from '../compare.ts'
import { APPLY_MANIFESTS } from '../documents.ts'
import { signIn } from '../onboard.ts'
import { startProduct } from '../product.ts'

const NODES = 10_000
/** Machines that boot at the same time. */
const CONNECTIONS = 256
const MAX_P99_MS = 250
/** Boot script, meta-data and user-data. */
const FETCHES = 3
/** The log is complete within this time. */
const LOG_MS = 10_000
/** Profiles of different sizes; each node draws one. */
const PROFILES = 8
const LOAD = fileURLToPath(new URL('../load/boot-load.ts', import.meta.url))
const LIMIT = fileURLToPath(new URL('../load/http-limit.ts', import.meta.url))

type Load = { ms: number; booted: number; statuses: Record<string, number>; bytes: number; p99: number; cpuShare: number }

/**
 * Machines per second that fetch boot script, meta-data and user-data: 10,000 with distinct MACs in random order (`--seed`), each
 * recorded by Muster, compared with nginx that serves the same bytes as files. A round is a new boot of all nodes, and fails unless the
 * log has every fetch. The limit is an HTTP server of Node that answers from memory. `--nodes` sets the size, `--connections` the number
 * of machines that boot at the same time.
 */
export const bench: Bench = async ({ rounds, print, option, random }) => {
  const count = option('nodes', NODES)
  const connections = option('connections', CONNECTIONS)
  const port = await pickPort()
  const dir = mkdtempSync(join(tmpdir(), 'mb-'))
  const product = await startProduct({ BOOT_PORT: String(port), BOOT_TOKENS_WITHOUT_TLS: '1' })
  const nginx = await startNginx(dir)
  const limitPort = await pickPort()
  const limit = spawn(process.execPath, [LIMIT, String(limitPort)], { stdio: 'inherit' })
  const database = new pg.Client(product.databaseUrl)
  try {
    await database.connect()
    let session: string | null = null
    const api = connect(product.url, () => session)
    session = await signIn(api, product.linkToken)
    await product.kill('worker')
    const nodes = Array.from({ length: count }, (_, i) => ({
      name: `n${i}`,
      mac: macOf(i),
      profile: Math.floor(random() * PROFILES),
    }))
    await addNodes(api, nodes)
    const boot = `http://127.0.0.1:${port}`
    const paths = shuffle(nodes, random).map(({ name, mac }) => [
      `/boot/v1/bootscript?mac=${mac}&arch=x86_64`,
      ...['meta-data', 'user-data'].map((file) => `/boot/v1/nocloud/${name}/${file}`),
    ])
    await copyFiles(boot, nginx.root, paths)
    const files = paths.map((machine) => machine.map(fileOf))
    // As autovacuum does within a minute.
    await database.query('analyze')
    print(`${count} nodes with ${PROFILES} profiles; nginx has the same files`)

    const limitLoad = await run(dir, `http://127.0.0.1:${limitPort}`, connections, paths)
    const limitRate = perSecond(limitLoad, count)
    print(`limit, an HTTP server of Node without any work: ${Math.round(limitRate)} machines/s, ${describe(limitLoad)}`)

    const latencies: Sample[] = []
    let recorded = await waitForFetches(database, 0)
    const ours = async () => {
      const before = product.cpu()
      const load = await run(dir, boot, connections, paths)
      const after = product.cpu()
      recorded = await waitForFetches(database, recorded + count * FETCHES)
      const cpu = `${(after.api - before.api).toFixed(1)} s of the API and ${(after.postgres - before.postgres).toFixed(1)} s of Postgres`
      print(`ours: ${describe(load)}; CPU: ${cpu}`)
      latencies.push({ ours: load.p99, peer: MAX_P99_MS })
      return perSecond(load, count)
    }
    const peer = async () => {
      const load = await run(dir, nginx.url, connections, files)
      print(`nginx: ${describe(load)}`)
      return perSecond(load, count)
    }
    const samples = await interleave(ours, peer, rounds, print)
    return [
      { comparison: { what: 'boots_vs_nginx_files', unit: 'machines/s', kind: 'throughput', goal: 0.3 }, samples },
      { comparison: { what: 'p99_vs_250ms', unit: 'ms', kind: 'cost', goal: 1 }, samples: latencies },
    ]
  } finally {
    limit.kill()
    await database.end()
    await Promise.all([nginx.stop(), product.stop()])
    rmSync(dir, { recursive: true, force: true })
  }
}

/** Waits until the log has so many fetches. @returns their number */
async function waitForFetches(database: pg.Client, expected: number): Promise<number> {
  for (const deadline = Date.now() + LOG_MS; ; ) {
    const { rows } = await database.query<{ count: number }>('select coalesce(sum(count), 0)::int as count from boot_fetches')
    const { count } = rows[0]!
    if (count >= expected) return count
    if (Date.now() > deadline) throw new Error(`The log has ${count} of ${expected} fetches`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

const macOf = (i: number) => `02${i.toString(16).padStart(10, '0')}`.match(/../g)!.join(':')
const fileOf = (path: string) => `/${path.replace(/^\/boot\/v1\//, '').replaceAll(/[?&=:]/g, '_')}`

function shuffle<T>(items: T[], random: () => number): T[] {
  const all = [...items]
  for (let i = all.length - 1; i > 0; i--) {
    const j = Math.floor(random() * (i + 1))
    ;[all[i], all[j]] = [all[j]!, all[i]!]
  }
  return all
}

async function addNodes(api: Client, nodes: { name: string; mac: string; profile: number }[]): Promise<void> {
  const document = (kind: string, name: string, spec: object) =>
    JSON.stringify({ apiVersion: 'muster/v1', kind, metadata: { name }, spec })
  const profiles = Array.from({ length: PROFILES }, (_, i) =>
    document('BootProfile', `profile-${i}`, {
      kernel: { url: `http://files.test/${i}/vmlinuz` },
      initrds: [{ url: `http://files.test/${i}/initrd.img` }],
      kernelParams: ['console=ttyS0', `profile=${i}`],
      adminUser: 'ops',
      userData: `#cloud-config\npackages: [${Array.from({ length: 20 * (i + 1) }, (_, n) => `package-${n}`).join(', ')}]\n`,
      assignments: [{ nodes: nodes.flatMap(({ name, profile }) => (profile === i ? [name] : [])).join(',') }],
    }),
  )
  const all = nodes.map(({ name, mac }, i) =>
    document('ComputeNode', name, {
      host: `10.${(i >> 16) & 255}.${(i >> 8) & 255}.${i & 255}`,
      interfaces: [{ name: 'eth0', mac, isBoot: true }],
    }),
  )
  const files = [{ name: 'nodes.yaml', text: [...all, ...profiles].join('\n---\n') }]
  const { plan } = await api.mutate(APPLY_MANIFESTS, { input: { files } })
  if (!plan.isApplied) throw new Error(`The nodes were not added: ${JSON.stringify(plan.issues.slice(0, 3))}`)
}

/** Stores what Muster answers as files of nginx. The user-data of a first fetch contains a token of the same length as later ones. */
async function copyFiles(from: string, root: string, machines: string[][]): Promise<void> {
  let next = 0
  const copyNext = async () => {
    for (let machine = machines[next++]; machine; machine = machines[next++])
      for (const path of machine) {
        const response = await fetch(`${from}${path}`)
        if (response.status !== 200) throw new Error(`${path} answered ${response.status}: ${await response.text()}`)
        const file = join(root, fileOf(path))
        mkdirSync(dirname(file), { recursive: true })
        writeFileSync(file, await response.text())
      }
  }
  await Promise.all(Array.from({ length: 64 }, copyNext))
}

async function run(dir: string, origin: string, connections: number, machines: string[][]): Promise<Load> {
  const file = join(dir, 'machines.json')
  writeFileSync(file, JSON.stringify(machines))
  const { stdout } = await promisify(execFile)(process.execPath, [LOAD, origin, String(connections), file])
  return JSON.parse(stdout) as Load
}

/** @throws Error unless every machine got every file */
function perSecond({ booted, statuses, ms }: Load, count: number): number {
  if (booted !== count) throw new Error(`only ${booted} of ${count} machines got all files: ${JSON.stringify(statuses)}`)
  return booted / (ms / 1000)
}

const describe = ({ booted, ms, bytes, p99, cpuShare }: Load) =>
  `${booted} machines, ${bytes} bytes in ${(ms / 1000).toFixed(2)} s, p99 ${p99.toFixed(0)} ms; the load used ${cpuShare.toFixed(2)} of a core`
