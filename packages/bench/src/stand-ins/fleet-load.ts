// A process of its own: `node fleet-load.ts URL AGENTS INTERVAL_S SECONDS SILENT_EVERY` is a fleet. Every agent beats once an interval,
// all spread over it; every SILENT_EVERYth beats in the first interval only. It says "ready" when it has all keys and waits for a line.
// At the end it says as JSON how it was answered.
import { once } from 'node:events'
import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { encodeHeartbeat, envelope, sign } from '@muster/protocol'
import { agentKey, agentName, beatOf } from '../bench-agents.ts'

const [url, ...numbers] = process.argv.slice(2) as [string, ...string[]]
const [agents, interval, seconds, silentEvery] = numbers.map(Number) as [number, number, number, number]
const TICK_MS = 20
const pool = new Agent({ keepAlive: true, maxSockets: 1000 })
const keys = Array.from({ length: agents }, (_, i) => agentKey(i))
const answers: Record<string, number> = {}
const times: number[] = []
let open = 0

function send(i: number, sequence: number): void {
  const now = new Date()
  const signed = encodeHeartbeat(beatOf(i, sequence, now))
  const body = envelope(signed, sign(signed, keys[i]!, now))
  open++
  const done = (word: string) => {
    open--
    answers[word] = (answers[word] ?? 0) + 1
    times.push(Date.now() - now.getTime())
  }
  const sent = request(`${url}/agent/v1/nodes/${agentName(i)}/heartbeat`, { method: 'POST', agent: pool }, (res) => {
    let text = ''
    res.setEncoding('utf8').on('data', (chunk) => (text += chunk))
    res.once('end', () => {
      const answer = JSON.parse(text) as { accepted: boolean; error?: { code: string } }
      done(answer.accepted ? 'accepted' : answer.error!.code)
    })
  })
  sent.once('error', () => done('unreachable')).end(body)
}

process.stdout.write('ready\n')
await once(process.stdin, 'data')
const began = performance.now()
let due = 0
for (;;) {
  const elapsed = (performance.now() - began) / 1000
  if (elapsed > seconds) break
  // The nth heartbeat of the fleet is of agent n modulo agents.
  const now = Math.floor((elapsed / interval) * agents)
  for (; due < now; due++) {
    const [i, round] = [due % agents, Math.floor(due / agents)]
    if (round === 0 || i % silentEvery !== 0) send(i, round + 1)
  }
  await sleep(TICK_MS)
}
while (open > 0) await sleep(TICK_MS)
times.sort((a, b) => a - b)
process.stdout.write(`${JSON.stringify({ answers, p99: times[Math.floor(times.length * 0.99)] })}\n`)
process.exit(0)
