// A separate process: `node heartbeat-load.ts URL AGENTS HEARTBEATS CONNECTIONS FIRST_SEQUENCE BAD_PERCENT` signs all heartbeats, prints
// "ready", waits for a line on stdin, sends them as fast as they are answered, and prints the results as JSON.
import { once } from 'node:events'
import { connect } from 'node:net'
import { encodeHeartbeat, envelope, sign } from '@muster/protocol'
import { agentKey, agentName, heartbeatOf } from '../bench-agents.ts'

const [url, ...numbers] = process.argv.slice(2) as [string, ...string[]]
const [agents, heartbeats, connections, first, badPercent] = numbers.map(Number) as [number, number, number, number, number]
const { hostname, port } = new URL(url)

const requests: Buffer[] = []
const keys = Array.from({ length: agents }, (_, i) => agentKey(i))
for (let round = 0; round < heartbeats; round++)
  for (let i = 0; i < agents; i++) {
    const now = new Date()
    const signed = encodeHeartbeat(heartbeatOf(i, first + round, now))
    const isBad = (round * agents + i) % 100 < badPercent
    const body = envelope(signed, sign(signed, keys[isBad ? (i + 1) % agents : i]!, now))
    const head = `POST /agent/v1/nodes/${agentName(i)}/heartbeat HTTP/1.1\r\nhost: bench\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`
    requests.push(Buffer.concat([Buffer.from(head), body]))
  }
process.stdout.write('ready\n')
await once(process.stdin, 'data')

const times: number[] = []
const answers: Record<string, number> = {}
let next = 0
const began = performance.now()
await Promise.all(Array.from({ length: connections }, run))
const ms = performance.now() - began
times.sort((a, b) => a - b)
const at = (share: number) => times[Math.min(times.length - 1, Math.floor(times.length * share))]
process.stdout.write(`${JSON.stringify({ ms, answers, p50: at(0.5), p99: at(0.99), bytes: requests[0]!.length })}\n`)
process.exit(0)

async function run(): Promise<void> {
  const socket = connect(Number(port), hostname).setNoDelay(true)
  await once(socket, 'connect')
  await new Promise<void>((resolve, reject) => {
    let sentAt = 0
    let pending = ''
    const send = () => {
      const request = requests[next++]
      if (!request) return void socket.end(resolve)
      sentAt = performance.now()
      socket.write(request)
    }
    socket.on('data', (chunk) => {
      pending += chunk.toString('latin1')
      const end = pending.indexOf('\r\n\r\n')
      if (end < 0) return
      const length = Number(/content-length: (\d+)/i.exec(pending)![1])
      if (pending.length < end + 4 + length) return
      const answer = JSON.parse(pending.slice(end + 4)) as { accepted: boolean; error?: { code: string } }
      const word = answer.accepted ? 'accepted' : answer.error!.code
      answers[word] = (answers[word] ?? 0) + 1
      times.push(performance.now() - sentAt)
      pending = ''
      send()
    })
    socket.once('error', reject)
    send()
  })
}
