import net from 'node:net'
import { formatGoTime } from '@muster/protocol/agent'
import { readText } from '../files.ts'

const TRIES = 3
const TIMEOUT_MS = 1000

type Target = { name: string; host: string; port: number }

/** Parses `node-002`, `node-002:7000` or `[fe80::1]:22`. */
export function parseTarget(name: string, port: number): Target {
  const [, bracketed, plain, ownPort] = /^(?:\[([^\]]+)\]|([^:]+))(?::(\d+))?$/.exec(name) ?? []
  return { name, host: bracketed ?? plain ?? name, port: ownPort ? Number(ownPort) : port }
}

/** Measures TCP connect times. A refused connection counts as a response. */
export async function measureLatency(targets: Target[], gateway: Target | null) {
  const measurements = await Promise.all(
    targets.map(async (target) => ({ target_node_id: target.name, ...(await probe(target)) })),
  )
  const known = measurements.map(({ latency_us }) => latency_us).filter((value) => value !== null)
  return {
    measurements,
    gateway_latency_us: gateway ? (await probe(gateway)).latency_us : null,
    avg_cluster_latency_us: known.length ? Math.round(known.reduce((a, b) => a + b, 0) / known.length) : null,
  }
}

async function probe({ host, port }: Target) {
  const tries: (number | null)[] = []
  while (tries.length < TRIES) tries.push(await connect(host, port))
  const responses = tries.filter((micros) => micros !== null).sort((a, b) => a - b)
  return {
    latency_us: responses[Math.floor(responses.length / 2)] ?? null,
    packet_loss_percent: Math.round(((TRIES - responses.length) / TRIES) * 100),
    measured_at: formatGoTime(new Date()),
  }
}

function connect(host: string, port: number): Promise<number | null> {
  return new Promise((resolve) => {
    const startedAt = performance.now()
    const socket = net.connect({ host, port })
    const finish = (isReachable: boolean) => {
      resolve(isReachable ? Math.round((performance.now() - startedAt) * 1000) : null)
      clearTimeout(timer)
      socket.destroy()
    }
    // A delayed event loop processes pending socket events before it times out.
    const timer = setTimeout(() => setImmediate(finish, false), TIMEOUT_MS)
    socket.once('connect', () => finish(true))
    socket.once('error', (error: NodeJS.ErrnoException) => finish(error.code === 'ECONNREFUSED'))
  })
}

/** Address of the default gateway, IPv4 first; null without one. */
export function defaultGateway(root: string): string | null {
  return ipv4Gateway(root) ?? ipv6Gateway(root)
}

const RTF_GATEWAY = 2

/** Reads /proc/net/route, where addresses are little-endian. */
function ipv4Gateway(root: string): string | null {
  const rows = (readText(root, '/proc/net/route') ?? '').split('\n').map((line) => line.split('\t'))
  const hex = rows.find(
    ([, destination, , flags]) => destination === '00000000' && Number.parseInt(flags ?? '', 16) & RTF_GATEWAY,
  )?.[2]
  return hex ? [...Buffer.from(hex, 'hex')].reverse().join('.') : null
}

/** Reads the default route with the lowest metric from /proc/net/ipv6_route. Link-local gateways carry the interface as scope. */
function ipv6Gateway(root: string): string | null {
  const routes = (readText(root, '/proc/net/ipv6_route') ?? '').split('\n').flatMap((line) => {
    const [destination, prefix, , , gateway, metric, , , flags, name] = line.trim().split(/\s+/)
    const isDefault = /^0{32}$/.test(destination ?? '') && prefix === '00'
    if (!isDefault || !gateway || !(Number.parseInt(flags ?? '', 16) & RTF_GATEWAY)) return []
    const address = gateway.match(/.{4}/g)!.join(':')
    return [{ metric: Number.parseInt(metric ?? '', 16), address: /^fe[89ab]/.test(address) ? `${address}%${name}` : address }]
  })
  return routes.sort((a, b) => a.metric - b.metric)[0]?.address ?? null
}
