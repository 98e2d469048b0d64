// A separate process: `node abuse-load.ts URL KIND CONNECTIONS [TOKEN]` sends requests of one kind from all connections, each after the
// answer to the one before, prints "ready" after the first answers, and the counted answers as JSON when stdin ends.
import { once } from 'node:events'
import { request } from 'node:http'
import { WebSocket } from 'ws'
import { ABUSES } from './abuses.ts'

const [url, kind, connections, token] = process.argv.slice(2) as [string, string, string, string | undefined]
const abuse = ABUSES[kind]!
const target = new URL(abuse.path, url)
/** A slow body sends one byte in this time. */
const DRIP_MS = 50

const answers: Record<string, number> = {}
let hasEnded = false
const count = (answer: string) => {
  answers[answer] = (answers[answer] ?? 0) + 1
}

/** Sends one request. @returns its status, or the name of the exceeded limit, or `ok` */
function send(): Promise<string> {
  const { body } = abuse
  return new Promise((resolve) => {
    const headers = {
      ...(token ? { authorization: `Bearer ${token}` } : {}),
      ...(body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) }),
    }
    const sent = request(target, { method: body === undefined ? 'GET' : 'POST', headers, agent: false }, (response) => {
      const chunks: Buffer[] = []
      response.on('data', (chunk: Buffer) => chunks.length < 100 && chunks.push(chunk))
      response.on('error', () => resolve('cut off'))
      response.on('end', () => {
        const limit = /"limit":"(\w+)"/.exec(Buffer.concat(chunks).toString('utf8'))?.[1]
        resolve(limit ?? (response.statusCode === 200 ? 'ok' : String(response.statusCode)))
        sent.destroy()
      })
    })
    sent.on('error', () => resolve('cut off'))
    if (!abuse.isSlow) return void sent.end(body)
    let at = 0
    const timer = setInterval(() => {
      if (!hasEnded && !sent.destroyed) sent.write(body![at++ % body!.length]!)
      else {
        clearInterval(timer)
        sent.destroy()
      }
    }, DRIP_MS)
    // A slow request is never answered.
    setTimeout(() => count('slow'), DRIP_MS * 2)
  })
}

/** Sends one message on a WebSocket that is signed in. @returns the code that closes it */
async function sendFrame(): Promise<string> {
  const socket = new WebSocket(target.href.replace(/^http/, 'ws'), 'graphql-transport-ws')
  socket.on('error', () => {})
  const closed = once(socket, 'close') as Promise<[number]>
  const init = { type: 'connection_init', payload: { authorization: `Bearer ${token}` } }
  socket.once('open', () => socket.send(JSON.stringify(init), () => socket.send(abuse.frame!)))
  const [code] = await closed
  return String(code)
}

async function run(): Promise<void> {
  while (!hasEnded) count(await (abuse.frame ? sendFrame() : send()))
}

const runs = Array.from({ length: Number(connections) }, run)
const first = setInterval(() => {
  if (Object.keys(answers).length === 0) return
  clearInterval(first)
  process.stdout.write('ready\n')
}, 10)
process.stdin.resume()
await once(process.stdin, 'end')
hasEnded = true
// An answer that is on its way is not counted.
if (runs.length > 0) process.stdout.write(`${JSON.stringify(answers)}\n`, () => process.exit(0))
