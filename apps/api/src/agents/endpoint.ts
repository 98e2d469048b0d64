import type { IncomingMessage, ServerResponse } from 'node:http'
import { isIP } from 'node:net'
import { DEFAULT_SETTINGS, registerAgent, touchIngest } from '@muster/core/agents'
import { DomainError, InvalidInput } from '@muster/core/errors'
import { isDatabaseAway } from '@muster/core/patiently'
import {
  type Answer,
  type AnswerCode,
  MalformedBody,
  type Refused,
  type RegisterAnswer,
  RegisterRequest,
  readBody,
  refusedShape,
} from '@muster/protocol'
import { clientAddress } from '../request-facts.ts'
import type { Api } from '../server.ts'
import { heartbeatJudge, type Verdict } from './heartbeat.ts'
import { createGate } from './take-body.ts'

/** Agents in the field know the first; ours take the second. */
const PATH = /^\/(?:api\/v1\/hpc|agent\/v1)\/(?:nodes\/(register|[^/]+\/heartbeat)|health)$/
const TOUCH_MS = 1000
const STATUS: Partial<Record<AnswerCode, number>> = { invalid_request: 400, missing_fields: 400, too_large: 413, busy: 429 }
/** Registrations at once: each takes a transaction of its own. */
const MOST_REGISTRATIONS = 32

export type AgentEndpoint = {
  /** Whether the request was for us; then it is answered. */
  serve(pathname: string, req: IncomingMessage, res: ServerResponse): Promise<boolean>
  stop(): Promise<void>
}

/** Where agents register and send their heartbeats. While it runs it says in the database that heartbeats can arrive. */
export function serveAgents({ deps, metrics }: Api): AgentEndpoint {
  const { runtime } = deps
  const gate = createGate()
  const judge = heartbeatJudge(runtime, metrics.heartbeats)
  const presence = keepAlive()
  let registrations = 0

  async function heartbeat(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const { accepted, rejected, lag } = metrics.heartbeats
    const verdict = await withBody(req, async (body) => {
      const done = lag.startTimer()
      const judged = await judge(body)
      if (!('code' in judged)) done()
      return judged
    })
    if (verdict === 'gone') return
    if ('code' in verdict) rejected.inc({ code: verdict.code })
    else accepted.inc()
    const nextS = 'code' in verdict ? undefined : verdict.nextS
    reply(res, verdict, { next_heartbeat_seconds: nextS ?? DEFAULT_SETTINGS.heartbeatS })
  }

  async function register(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const verdict = await withBody(req, async (body) => {
      if (registrations >= MOST_REGISTRATIONS) return BUSY
      registrations++
      try {
        return await registerBody(body, addressOf(req, deps.trustProxy))
      } finally {
        registrations--
      }
    })
    if (verdict !== 'gone') reply(res, verdict)
  }

  async function withBody(req: IncomingMessage, work: (body: Buffer) => Promise<Verdict>): Promise<Verdict | 'gone'> {
    const taken = await gate.take(req)
    if (taken === 'gone') return taken
    if (taken === 'busy') return BUSY
    if (taken === 'too_large') return { code: 'too_large', message: 'The body is over 64 KiB.' }
    try {
      return await work(taken.body)
    } catch (error) {
      // Asked to come again, an agent keeps what it has to say.
      if (!isDatabaseAway(error)) runtime.log.error({ err: error, path: req.url }, 'an agent was not answered')
      return BUSY
    } finally {
      taken.release()
    }
  }

  async function registerBody(body: Buffer, from: string): Promise<Verdict> {
    try {
      const { value } = readBody(body)
      const parsed = RegisterRequest.safeParse(value)
      if (!parsed.success) return refusedShape(parsed.error, value)
      const registration = await registerAgent(runtime, parsed.data, from)
      return registration.isAccepted ? {} : registration
    } catch (error) {
      if (error instanceof MalformedBody) return { code: error.code, message: error.message }
      if (error instanceof InvalidInput) return { code: 'invalid_request', message: error.message }
      if (error instanceof DomainError) return { code: 'key_not_allowed', message: error.message }
      throw error
    }
  }

  function keepAlive() {
    let timer: NodeJS.Timeout
    let isStopped = false
    const touch = async () => {
      try {
        await touchIngest(runtime)
      } catch (error) {
        runtime.log.warn({ err: error }, 'could not say that heartbeats can arrive')
      }
      if (!isStopped) timer = setTimeout(() => (last = touch()), TOUCH_MS).unref()
    }
    let last = touch()
    return {
      async stop() {
        isStopped = true
        clearTimeout(timer)
        await last
      },
    }
  }

  return {
    async serve(pathname, req, res) {
      const [isOurs, what] = PATH.exec(pathname) ?? []
      if (pathname === '/health' || (isOurs && !what)) {
        send(res, 200, { status: 'ok' })
        return true
      }
      if (!what) return false
      if (req.method !== 'POST')
        send(res.setHeader('allow', 'POST'), 405, answerOf({ code: 'invalid_request', message: 'Use POST.' }))
      else await (what === 'register' ? register(req, res) : heartbeat(req, res))
      return true
    },
    stop: presence.stop,
  }
}

const BUSY: Refused = { code: 'busy', message: 'Too much at once; try again in a moment.' }

function reply(res: ServerResponse, verdict: Verdict, more: Partial<Answer> = {}): void {
  const status = 'code' in verdict ? (STATUS[verdict.code] ?? 200) : 200
  // Not all at the same moment again.
  if (status === 429) res.setHeader('retry-after', 1 + Math.floor(Math.random() * 5))
  // What of the body was not read is not waited for.
  if (status === 413) res.setHeader('connection', 'close')
  send(res, status, { ...answerOf(verdict), ...more })
}

const answerOf = (verdict: Verdict): Answer | RegisterAnswer =>
  'code' in verdict ? { accepted: false, error: { code: verdict.code, message: verdict.message } } : { accepted: true }

function send(res: ServerResponse, status: number, body: object): void {
  const text = JSON.stringify(body)
  res.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }).end(text)
}

/** Of a new node it becomes the host, so what a proxy says counts only if it is an address. */
function addressOf(req: IncomingMessage, trustProxy?: boolean): string {
  const forwarded = req.headers['x-forwarded-for']
  const headers = new Headers({
    'x-muster-peer': req.socket.remoteAddress ?? '',
    ...(forwarded ? { 'x-forwarded-for': String(forwarded) } : {}),
  })
  const plain = (address: string) => address.replace(/^::ffff:(?=\d+\.)/, '')
  const said = plain(clientAddress({ headers }, trustProxy))
  return isIP(said) ? said : plain(req.socket.remoteAddress ?? '')
}
