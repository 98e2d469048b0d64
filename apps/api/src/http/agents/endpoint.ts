import type { IncomingMessage, ServerResponse } from 'node:http'
import { DEFAULT_SETTINGS, registerAgent } from '@muster/core/agents'
import { systemCtx } from '@muster/core/context'
import { DomainError, InvalidInput } from '@muster/core/errors'
import { recordIngestLiveness } from '@muster/core/heartbeats'
import { isTransientDbError } from '@muster/core/retry-transient'
import {
  type HeartbeatResponse,
  MalformedBodyError,
  parseBody,
  RegisterRequest,
  type RegisterResponse,
  type Rejection,
  type RejectionCode,
  shapeRejection,
} from '@muster/protocol'
import type { Api } from '../../api.ts'
import type { Handler } from '../handler.ts'
import { clientAddress, headersOf } from '../request-facts.ts'
import { createBodyLimiter } from './body-limiter.ts'
import { createHeartbeatEvaluator, type Verdict } from './evaluate-heartbeat.ts'

const LIVENESS_INTERVAL_MS = 1000
const STATUS: Partial<Record<RejectionCode, number>> = { invalid_request: 400, missing_fields: 400, too_large: 413, busy: 429 }
/** Each registration takes a transaction. */
const MAX_CONCURRENT_REGISTRATIONS = 32

export type AgentEndpoint = {
  register: Handler
  heartbeat: Handler
  health: Handler
  stop(): Promise<void>
}

/** Handlers for agents' registrations and heartbeats. While they run, the ingest liveness row in the database is updated every second. */
export function serveAgents({ deps, metrics }: Api): AgentEndpoint {
  const { runtime } = deps
  const bodyLimiter = createBodyLimiter()
  const evaluateHeartbeat = createHeartbeatEvaluator(runtime, metrics.heartbeats)
  const liveness = publishLiveness()
  let registrations = 0

  async function heartbeat(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const { accepted, rejected, lag } = metrics.heartbeats
    const verdict = await withBody(req, async (body) => {
      const done = lag.startTimer()
      const result = await evaluateHeartbeat(body)
      if (!('code' in result)) done()
      return result
    })
    if (verdict === 'gone') return
    if ('code' in verdict) rejected.inc({ code: verdict.code })
    else accepted.inc()
    const stored = 'code' in verdict ? null : verdict
    reply(res, statusOf(verdict), verdict, {
      sequence_ack: stored?.sequence ?? 0,
      timestamp: new Date().toISOString(),
      next_heartbeat_seconds: stored?.nextHeartbeatSeconds ?? DEFAULT_SETTINGS.heartbeatIntervalSeconds,
    })
  }

  async function register(req: IncomingMessage, res: ServerResponse): Promise<void> {
    const verdict = await withBody(req, async (body) => {
      if (registrations >= MAX_CONCURRENT_REGISTRATIONS) return BUSY
      registrations++
      try {
        return await registerBody(body, clientAddress({ headers: headersOf(req) }))
      } finally {
        registrations--
      }
    })
    // Agents of the field look at the status alone.
    if (verdict !== 'gone') reply(res, statusOf(verdict, 403), verdict)
  }

  async function withBody(req: IncomingMessage, work: (body: Buffer) => Promise<Verdict>): Promise<Verdict | 'gone'> {
    const received = await bodyLimiter.read(req, clientAddress({ headers: headersOf(req) }))
    if (received === 'gone') return received
    if (received === 'busy') return BUSY
    if (received === 'too_large') return { code: 'too_large', message: 'The body exceeds 64 KiB.' }
    try {
      return await work(received.body)
    } catch (error) {
      // An agent that gets BUSY keeps its report and retries.
      if (!isTransientDbError(error)) runtime.log.error({ err: error, path: req.url }, 'agent request failed')
      return BUSY
    } finally {
      received.release()
    }
  }

  async function registerBody(body: Buffer, from: string): Promise<Verdict> {
    try {
      const { value } = parseBody(body)
      const parsed = RegisterRequest.safeParse(value)
      if (!parsed.success) return shapeRejection(parsed.error, value)
      const registration = await registerAgent(runtime, parsed.data, from)
      return registration.isAccepted ? {} : registration
    } catch (error) {
      if (error instanceof MalformedBodyError) return { code: error.code, message: error.message }
      if (error instanceof InvalidInput) return { code: 'invalid_request', message: error.message }
      if (error instanceof DomainError) return { code: 'key_not_allowed', message: error.message }
      throw error
    }
  }

  function publishLiveness() {
    let timer: NodeJS.Timeout
    let isStopped = false
    const record = async () => {
      try {
        await recordIngestLiveness(systemCtx(runtime))
      } catch (error) {
        runtime.log.warn({ err: error }, 'cannot record ingest liveness; retrying')
      }
      if (!isStopped) timer = setTimeout(() => (last = record()), LIVENESS_INTERVAL_MS).unref()
    }
    let last = record()
    return {
      async stop() {
        isStopped = true
        clearTimeout(timer)
        await last
      },
    }
  }

  const post =
    (handler: Handler): Handler =>
    (req, res) => {
      if (req.method === 'POST') return handler(req, res)
      send(res.setHeader('allow', 'POST'), 405, responseOf({ code: 'invalid_request', message: 'Use POST.' }))
    }
  return {
    register: post(register),
    heartbeat: post(heartbeat),
    health: (_req, res) => send(res, 200, { status: 'ok' }),
    stop: liveness.stop,
  }
}

const BUSY: Rejection = { code: 'busy', message: 'The server is overloaded. Retry after the time in Retry-After.' }

const statusOf = (verdict: Verdict, otherwise = 200): number => ('code' in verdict ? (STATUS[verdict.code] ?? otherwise) : 200)

function reply(res: ServerResponse, status: number, verdict: Verdict, extra: Partial<HeartbeatResponse> = {}): void {
  // Random, so that agents do not retry at the same moment.
  if (status === 429) res.setHeader('retry-after', 1 + Math.floor(Math.random() * 5))
  // The rest of the body is not read.
  if (status === 413) res.setHeader('connection', 'close')
  send(res, status, { ...responseOf(verdict), ...extra })
}

function responseOf(verdict: Verdict): HeartbeatResponse | RegisterResponse {
  if (!('code' in verdict)) return { accepted: true }
  const error = { code: verdict.code, message: verdict.message }
  return { accepted: false, error, errors: [error] }
}

function send(res: ServerResponse, status: number, body: object): void {
  const text = JSON.stringify(body)
  res.writeHead(status, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }).end(text)
}
