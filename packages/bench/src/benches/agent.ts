import { type ChildProcess, execFileSync, spawn } from 'node:child_process'
import { EventEmitter, once } from 'node:events'
import fs from 'node:fs'
import http from 'node:http'
import net, { type AddressInfo } from 'node:net'
import os from 'node:os'
import path from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { downloadDeb } from '@muster/lab'
import { pickPort } from '@muster/standalone'
import type { Bench } from '../bench.ts'
import type { Comparison, Sample } from '../compare.ts'

const ROOT = fileURLToPath(new URL('../../../..', import.meta.url))
const RSS_LIMIT_MB = 30
const CPU_LIMIT_PERCENT = 0.1
const START_LIMIT_MS = 50
const INTERVAL_S = 30
/** Measured heartbeats, or scrapes. */
const INTERVALS = 4
const STARTS = 10

/** Resource usage of a program that measures its machine once per interval. */
type Cost = { rssMb: number; cpuPercent: number; startMs: number }
type Contender = { start: () => ChildProcess; connect: () => net.Socket; nextInterval: () => Promise<void> }

/**
 * Resource usage of our agent. Peers: Debian's prometheus-node-exporter and an empty program of the same runtime. Measures resident memory,
 * CPU with one heartbeat (or scrape) per 30 s, both at the same time, and the start time. Settings as in the systemd unit. `--intervals`
 * sets the number of measured heartbeats.
 */
export const bench: Bench = async ({ rounds, print, option }) => {
  const intervals = option('intervals', INTERVALS)
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'muster-bench-agent-'))
  const build = path.join(ROOT, 'apps/agent/packaging/build.ts')
  execFileSync(process.execPath, [build, '--binary-only', '--out', folder], { stdio: 'ignore' })
  const agent = path.join(folder, fs.readdirSync(folder).find((name) => name.startsWith('muster-agent-'))!)
  const exporter = unpackExporter(folder)
  const empty = buildEmpty(folder)
  const api = await startFakeApi()
  const home = { cwd: folder, env: { ...process.env, BUN_JSC_useJIT: '0' } }
  const settings = ['--config', '/dev/null', '--node-id', 'bench-node', '--cluster-id', 'bench', '--api-url', api.url]
  const files = ['key', 'state', 'sock'].map((name) => path.join(folder, name)) as [string, string, string]
  settings.push('--key-file', files[0], '--state-dir', files[1], '--status-socket', files[2])
  execFileSync(agent, ['init', ...settings], { ...home, stdio: 'ignore' })

  const ours = {
    start: () => spawn(agent, ['start', ...settings], { ...home, stdio: 'ignore' }),
    connect: () => net.connect({ path: files[2] }),
    nextInterval: api.nextHeartbeat,
  }
  const port = await pickPort()
  const theirs = {
    start: () => spawn(exporter, [`--web.listen-address=127.0.0.1:${port}`], { stdio: 'ignore' }),
    connect: () => net.connect({ port, host: '127.0.0.1' }),
    nextInterval: async () => {
      await sleep(INTERVAL_S * 1000)
      await fetch(`http://127.0.0.1:${port}/metrics`).then((reply) => reply.text())
    },
  }
  const floor = async () => {
    const child = spawn(empty, [], { ...home, stdio: 'ignore' })
    await sleep(2000)
    const { rssMb } = measure(child)
    await end(child)
    return { rssMb }
  }
  try {
    const measured: { ours: Cost; theirs: Cost; floor: Awaited<ReturnType<typeof floor>> }[] = []
    for (let round = 0; round < rounds; round++) {
      const starts = { ours: await quickest(ours), theirs: await quickest(theirs) }
      const [us, them] = await Promise.all([cost(ours, intervals), cost(theirs, intervals)])
      const costs = { ours: { ...us, startMs: starts.ours }, theirs: { ...them, startMs: starts.theirs }, floor: await floor() }
      measured.push(costs)
      print(
        `round ${round + 1} of ${rounds}: ${JSON.stringify(costs, (_, value) => (typeof value === 'number' ? Math.round(value * 1000) / 1000 : value))}`,
      )
    }
    const row = (what: string, unit: string, sample: (each: (typeof measured)[number]) => Sample) => {
      const comparison: Comparison = { what, unit, kind: 'cost', goal: 1 }
      return { comparison, samples: measured.map(sample) }
    }
    return [
      row('rss_of_limit', 'MB', (each) => ({ ours: each.ours.rssMb, peer: RSS_LIMIT_MB })),
      row('rss_of_node_exporter', 'MB', (each) => ({ ours: each.ours.rssMb, peer: each.theirs.rssMb })),
      row('rss_of_empty_runtime', 'MB', (each) => ({ ours: each.ours.rssMb, peer: each.floor.rssMb })),
      row('cpu_of_limit', '% of a core', (each) => ({ ours: each.ours.cpuPercent, peer: CPU_LIMIT_PERCENT })),
      row('cpu_of_node_exporter', '% of a core', (each) => ({ ours: each.ours.cpuPercent, peer: each.theirs.cpuPercent })),
      row('start_of_limit', 'ms', (each) => ({ ours: each.ours.startMs, peer: START_LIMIT_MS })),
      row('start_of_node_exporter', 'ms', (each) => ({ ours: each.ours.startMs, peer: each.theirs.startMs })),
    ]
  } finally {
    await api.stop()
    fs.rmSync(folder, { recursive: true })
  }
}

/** Milliseconds from the start until the first connection, the minimum of several starts: other load only adds. */
async function quickest({ start, connect }: Contender): Promise<number> {
  const taken: number[] = []
  while (taken.length < STARTS) {
    const from = performance.now()
    const child = start()
    taken.push(await answers(from, connect))
    await end(child)
  }
  return Math.min(...taken)
}

/** CPU in percent of a core over some intervals, and memory after them. */
async function cost({ start, connect, nextInterval }: Contender, intervals: number): Promise<Pick<Cost, 'rssMb' | 'cpuPercent'>> {
  const child = start()
  try {
    await answers(0, connect)
    await nextInterval()
    const [from, before] = [performance.now(), measure(child).cpuMs]
    for (let i = 0; i < intervals; i++) await nextInterval()
    const { cpuMs, rssMb } = measure(child)
    return { rssMb, cpuPercent: ((cpuMs - before) / (performance.now() - from)) * 100 }
  } finally {
    await end(child)
  }
}

/** CPU time of the process with all its threads, without its children, and its resident memory. */
function measure({ pid }: ChildProcess): { cpuMs: number; rssMb: number } {
  const kib = Number(/VmRSS:\s+(\d+)/.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))![1])
  const [user = 0, system = 0] = fs.readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ').slice(11, 13).map(Number)
  return { cpuMs: (user + system) * 10, rssMb: kib / 1024 }
}

async function answers(from: number, connect: () => net.Socket): Promise<number> {
  for (;;) {
    const socket = connect()
    const isConnected = await once(socket, 'connect').then(
      () => true,
      () => false,
    )
    socket.destroy()
    if (isConnected) return performance.now() - from
    await sleep(1)
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.kill()) await once(child, 'exit')
}

/** An API that accepts every heartbeat. */
async function startFakeApi() {
  const heartbeats = new EventEmitter()
  const server = http.createServer((request, response) => {
    request.resume().on('end', () => {
      response.setHeader('content-type', 'application/json').end(`{"accepted":true,"next_heartbeat_seconds":${INTERVAL_S}}`)
      if (request.url?.endsWith('/heartbeat')) heartbeats.emit('heartbeat')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const stop = () =>
    new Promise((resolve) => {
      server.close(resolve)
      server.closeAllConnections()
    })
  const nextHeartbeat = async () => void (await once(heartbeats, 'heartbeat'))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, nextHeartbeat, stop }
}

function unpackExporter(folder: string): string {
  const deb = downloadDeb('prometheus-node-exporter', path.join(ROOT, '.tool/cache/apt'))
  if (!deb) throw new Error("Debian's prometheus-node-exporter cannot be downloaded: apt-get download requires a mirror")
  execFileSync('dpkg-deb', ['-x', deb, path.join(folder, 'exporter')])
  return path.join(folder, 'exporter/usr/bin/prometheus-node-exporter')
}

function buildEmpty(folder: string): string {
  const packages = path.join(ROOT, 'apps/agent/node_modules/@oven')
  const bun = path.join(packages, fs.readdirSync(packages)[0]!, 'bin/bun')
  const source = path.join(folder, 'empty.ts')
  fs.writeFileSync(source, "if (process.argv[2] !== 'end') setInterval(() => {}, 30_000)\n")
  const file = path.join(folder, 'empty')
  execFileSync(bun, ['build', '--compile', '--minify', '--bytecode', '--outfile', file, source], {
    stdio: 'ignore',
  })
  return file
}
