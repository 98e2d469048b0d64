import net from 'node:net'
import { goTime } from '@muster/protocol/light'
import { text } from '../files.ts'

const TRIES = 3
const PATIENCE = 1000

type Target = { name: string; host: string; port: number }

/** `node-002`, `node-002:7000`, `[fe80::1]:22`. */
export function target(name: string, port: number): Target {
  const [, bracketed, plain, own] = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d+))?$/.exec(name) ?? []
  return { name, host: bracketed ?? plain ?? name, port: own ? Number(own) : port }
}

/** How long a TCP connection takes to come about. A refusal is an answer, too: the machine is there. */
export async function latency(targets: Target[], gateway: Target | null) {
  const measured = await Promise.all(targets.map(async (each) => ({ target_node_id: each.name, ...(await probe(each)) })))
  const known = measured.map(({ latency_us }) => latency_us).filter((value) => value !== null)
  return {
    measurements: measured,
    gateway_latency_us: gateway ? (await probe(gateway)).latency_us : null,
    avg_cluster_latency_us: known.length ? Math.round(known.reduce((a, b) => a + b, 0) / known.length) : null,
  }
}

async function probe({ host, port }: Target) {
  const tries: (number | null)[] = []
  while (tries.length < TRIES) tries.push(await connect(host, port))
  const answered = tries.filter((micros) => micros !== null).sort((a, b) => a - b)
  return {
    latency_us: answered[Math.floor(answered.length / 2)] ?? null,
    packet_loss_percent: Math.round(((TRIES - answered.length) / TRIES) * 100),
    measured_at: goTime(new Date()),
  }
}

function connect(host: string, port: number): Promise<number | null> {
  return new Promise((resolve) => {
    const from = performance.now()
    const socket = net.connect({ host, port })
    const end = (isThere: boolean) => {
      resolve(isThere ? Math.round((performance.now() - from) * 1000) : null)
      clearTimeout(late)
      socket.destroy()
    }
    // A process that was held up itself first looks at what has come meanwhile.
    const late = setTimeout(() => setImmediate(end, false), PATIENCE)
    socket.once('connect', () => end(true))
    socket.once('error', (error: NodeJS.ErrnoException) => end(error.code === 'ECONNREFUSED'))
  })
}

/** The default gateway of /proc/net/route, where addresses are little-endian. */
export function gateway(root: string): string | null {
  const rows = (text(root, '/proc/net/route') ?? '').split('\n').map((line) => line.split('\t'))
  const hex = rows.find(([, destination, , flags]) => destination === '00000000' && Number.parseInt(flags ?? '', 16) & 2)?.[2]
  return hex ? [...Buffer.from(hex, 'hex')].reverse().join('.') : null
}
