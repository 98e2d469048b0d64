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
/** Beats, or scrapes, that are measured. */
const BEATS = 4
const STARTS = 10

/** What a program costs that looks at its machine once per interval. */
type Cost = { rssMb: number; cpuPercent: number; startMs: number }
type Contender = { start: () => ChildProcess; connect: () => net.Socket; beat: () => Promise<void> }

/**
 * Our agent beside Debian's prometheus-node-exporter and an empty program of the same runtime: memory when it has settled, CPU over
 * two minutes with one beat (or scrape) in 30 s, both at the same time, and the time until it answers. The settings are those of its systemd unit.
 */
export const bench: Bench = async ({ rounds, print }) => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'muster-bench-agent-'))
  const build = path.join(ROOT, 'apps/agent/packaging/build.ts')
  execFileSync(process.execPath, [build, '--binary-only', '--out', folder], { stdio: 'ignore' })
  const agent = path.join(folder, fs.readdirSync(folder).find((name) => name.startsWith('muster-agent-'))!)
  const exporter = unpackExporter(folder)
  const empty = buildEmpty(folder)
  const api = await standInApi()
  const home = { cwd: folder, env: { ...process.env, BUN_JSC_useJIT: '0' } }
  const settings = ['--config', '/dev/null', '--node-id', 'bench-node', '--cluster-id', 'bench', '--api-url', api.url]
  const files = ['key', 'state', 'sock'].map((name) => path.join(folder, name)) as [string, string, string]
  settings.push('--key-file', files[0], '--state-dir', files[1], '--status-socket', files[2])
  execFileSync(agent, ['init', ...settings], { ...home, stdio: 'ignore' })

  const ours = {
    start: () => spawn(agent, ['start', ...settings], { ...home, stdio: 'ignore' }),
    connect: () => net.connect({ path: files[2] }),
    beat: api.beat,
  }
  const port = await pickPort()
  const theirs = {
    start: () => spawn(exporter, [`--web.listen-address=127.0.0.1:${port}`], { stdio: 'ignore' }),
    connect: () => net.connect({ port, host: '127.0.0.1' }),
    beat: async () => {
      await sleep(INTERVAL_S * 1000)
      await fetch(`http://127.0.0.1:${port}/metrics`).then((reply) => reply.text())
    },
  }
  const floor = async () => {
    const child = spawn(empty, [], { ...home, stdio: 'ignore' })
    await sleep(2000)
    const { rssMb } = look(child)
    await end(child)
    return { rssMb }
  }
  try {
    const taken: { ours: Cost; theirs: Cost; floor: Awaited<ReturnType<typeof floor>> }[] = []
    for (let round = 0; round < rounds; round++) {
      const starts = { ours: await quickest(ours), theirs: await quickest(theirs) }
      const [us, them] = await Promise.all([cost(ours), cost(theirs)])
      const it = { ours: { ...us, startMs: starts.ours }, theirs: { ...them, startMs: starts.theirs }, floor: await floor() }
      taken.push(it)
      print(
        `round ${round + 1} of ${rounds}: ${JSON.stringify(it, (_, value) => (typeof value === 'number' ? Math.round(value * 1000) / 1000 : value))}`,
      )
    }
    const row = (what: string, unit: string, sample: (each: (typeof taken)[number]) => Sample) => {
      const comparison: Comparison = { what, unit, kind: 'cost', goal: 1 }
      return { comparison, samples: taken.map(sample) }
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

/** Milliseconds from the start until it answers, the least of some: whatever else the machine does only adds. */
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

/** The share of a core over some real intervals, and memory after them. */
async function cost({ start, connect, beat }: Contender): Promise<Pick<Cost, 'rssMb' | 'cpuPercent'>> {
  const child = start()
  try {
    await answers(0, connect)
    await beat()
    const [from, before] = [performance.now(), look(child).cpuMs]
    for (let i = 0; i < BEATS; i++) await beat()
    const { cpuMs, rssMb } = look(child)
    return { rssMb, cpuPercent: ((cpuMs - before) / (performance.now() - from)) * 100 }
  } finally {
    await end(child)
  }
}

/** Of the process with all threads that it had, in hundredths of a second; what it starts is not in it. */
function look({ pid }: ChildProcess): { cpuMs: number; rssMb: number } {
  const kib = Number(/VmRSS:\s+(\d+)/.exec(fs.readFileSync(`/proc/${pid}/status`, 'utf8'))![1])
  const [user = 0, system = 0] = fs.readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')[1]!.split(' ').slice(11, 13).map(Number)
  return { cpuMs: (user + system) * 10, rssMb: kib / 1024 }
}

async function answers(from: number, connect: () => net.Socket): Promise<number> {
  for (;;) {
    const socket = connect()
    const isThere = await once(socket, 'connect').then(
      () => true,
      () => false,
    )
    socket.destroy()
    if (isThere) return performance.now() - from
    await sleep(1)
  }
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode === null && child.kill()) await once(child, 'exit')
}

/** Accepts every beat. */
async function standInApi() {
  const beats = new EventEmitter()
  const server = http.createServer((request, response) => {
    request.resume().on('end', () => {
      response.setHeader('content-type', 'application/json').end(`{"accepted":true,"next_heartbeat_seconds":${INTERVAL_S}}`)
      if (request.url?.endsWith('/heartbeat')) beats.emit('beat')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const stop = () =>
    new Promise((resolve) => {
      server.close(resolve)
      server.closeAllConnections()
    })
  const beat = async () => void (await once(beats, 'beat'))
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, beat, stop }
}

function unpackExporter(folder: string): string {
  const deb = downloadDeb('prometheus-node-exporter', path.join(ROOT, '.tool/cache/apt'))
  if (!deb) throw new Error("Debian's prometheus-node-exporter cannot be fetched: apt-get download needs a mirror")
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
