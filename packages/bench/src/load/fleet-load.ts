// A separate process: `node fleet-load.ts URL AGENTS INTERVAL_S SECONDS SILENT_EVERY`. Every agent sends a heartbeat once per interval; all
// are spread evenly. First heartbeats are spread over two intervals, because they also change states. Every SILENT_EVERYth agent sends one
// only. Prints "ready" when all keys exist, waits for a line on stdin, and prints the results as JSON.
import { once } from 'node:events'
import { setTimeout as sleep } from 'node:timers/promises'
import { encodeHeartbeat, envelope, sign } from '@muster/protocol'
import { type AgentLine, openLine } from '../agent-line.ts'
import { agentKey, heartbeatOf } from '../bench-agents.ts'

const [url, ...numbers] = process.argv.slice(2) as [string, ...string[]]
const [agents, interval, seconds, silentEvery] = numbers.map(Number) as [number, number, number, number]
const TICK_MS = 20
// A machine lacks sockets for 100,000 agents. These are always in use, because the API closes idle connections.
const LINES = Math.min(500, Math.ceil(agents / interval / 10))
const keys = Array.from({ length: agents }, (_, i) => agentKey(i))
const free = await Promise.all(Array.from({ length: LINES }, () => openLine(url)))
const answers: Record<string, number> = {}
const times: number[] = []
let began = 0
/** Due time of the nth heartbeat in intervals. It belongs to agent n modulo agents. */
const dueAt = (n: number) => (n < agents ? (2 * n) / agents : 1 + n / agents)
/** Number of the next heartbeat, and number of due heartbeats. */
let [next, due] = [0, 0]

/** Sends due heartbeats on one connection until none is left. */
async function sendOn(line: AgentLine): Promise<void> {
  while (next < due) {
    const n = next++
    const [i, round] = [n % agents, Math.floor(n / agents)]
    if (round > 0 && i % silentEvery === 0) continue
    const now = new Date()
    const signed = encodeHeartbeat(heartbeatOf(i, round + 1, now))
    const word = await line.send(envelope(signed, sign(signed, keys[i]!, now))).catch(() => 'unreachable')
    answers[word] = (answers[word] ?? 0) + 1
    times.push(performance.now() - began - dueAt(n) * interval * 1000)
  }
  free.push(line)
}

process.stdout.write('ready\n')
await once(process.stdin, 'data')
// The parent process has exited.
process.stdin.once('end', () => process.exit(1))
began = performance.now()
for (;;) {
  const elapsed = (performance.now() - began) / 1000
  if (elapsed > seconds) break
  while (dueAt(due) * interval <= elapsed) due++
  for (let n = next; n < due && free.length > 0; n++) void sendOn(free.shift()!)
  await sleep(TICK_MS)
}
while (free.length < LINES) await sleep(TICK_MS)
times.sort((a, b) => a - b)
process.stdout.write(`${JSON.stringify({ answers, p99: Math.round(times[Math.floor(times.length * 0.99)]!) })}\n`)
process.exit(0)
