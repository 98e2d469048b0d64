import type { IncomingMessage, ServerResponse } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { systemCtx } from '@muster/core/context'
import { DomainError } from '@muster/core/errors'
import { isTransientDbError } from '@muster/core/retry-transient'
import { findTrigger, receiveTrigger, TriggerIdempotencyKey, verifySignature } from '@muster/core/triggers'
import pLimit, { type LimitFunction } from 'p-limit'
import type { Api } from '../api.ts'
import { globalId } from '../graphql/shared/ids.ts'
import { callerKey } from '../sign-in/caller.ts'
import { createPacer } from './pacing.ts'
import { clientAddress, headersOf, requestFacts } from './request-facts.ts'

const MAX_BYTES = 1 << 20
/** Limits concurrent transactions, over all triggers: other requests of the API use the same connections. */
const MAX_CONCURRENT = 4
/** Requests in progress and waiting, over all triggers and of one. */
const MAX_OPEN = 64
const MAX_OPEN_OF_ONE = 8
const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/
const STATUS: Record<string, number> = { NOT_FOUND: 404, FORBIDDEN: 403, INVALID_INPUT: 422, CONFLICT: 409 }

type Answer = { status: number; body: unknown; headers?: Record<string, string> }
const failed = (status: number, error: string, headers: Record<string, string> = {}): Answer => ({
  status,
  body: { error },
  headers,
})
const TOO_MANY = failed(429, 'Too many requests.', { 'retry-after': '1' })
// Equal for unknown and suspended ones: the answer reveals no triggers.
const REJECTED = failed(
  401,
  'No trigger accepts this request: the address or the signature is wrong, or the timestamp is more than 5 minutes off.',
)

/** `POST /api/triggers/ID`: starts the run of a trigger when the signature over the body is right. */
export function serveTriggers({
  deps,
  reads,
  metrics,
}: Api): (req: IncomingMessage, res: ServerResponse, id: string) => Promise<void> {
  const { runtime } = deps
  const system = systemCtx(runtime)
  // Of its own: senders behind one address, such as a CI system, must not slow down users behind it.
  const pacer = createPacer()
  const places = pLimit(MAX_CONCURRENT)
  let open = 0
  const triggers = new Map<string, { limit: LimitFunction; open: number }>()

  /** One request of a trigger at a time: its row is locked meanwhile, and waiting for the lock would occupy a connection. */
  async function inTurn<T>(id: string, work: () => Promise<T>): Promise<T | null> {
    const of = triggers.get(id) ?? { limit: pLimit(1), open: 0 }
    if (open >= MAX_OPEN || of.open >= MAX_OPEN_OF_ONE) return null
    triggers.set(id, of)
    open++
    of.open++
    try {
      return await of.limit(() => places(work))
    } finally {
      open--
      if (--of.open === 0) triggers.delete(id)
    }
  }

  async function answerOf(req: IncomingMessage, id: string, address: string): Promise<Answer> {
    if (req.method !== 'POST') return failed(405, 'Use POST.', { allow: 'POST' })
    const caller = callerKey(null, address)
    const waitMs = pacer.isActive() ? pacer.enter(caller) : 0
    if (waitMs === null) return TOO_MANY
    if (waitMs > 0) await sleep(waitMs)
    const release = reads.take(caller)
    if (!release) return TOO_MANY
    try {
      const answer = await receive(req, id, address)
      if (answer.status === 401 && waitMs === 0) pacer.charge(caller)
      return answer
    } finally {
      release()
    }
  }

  async function receive(req: IncomingMessage, id: string, address: string): Promise<Answer> {
    const found = UUID.test(id) ? await findTrigger(system, id) : null
    // Before the body: nobody can send bodies to addresses without a trigger.
    if (!found) return { ...REJECTED, headers: { connection: 'close' } }
    const { trigger, secret } = found
    const body = await readBody(req)
    if (!body) return failed(413, `The body must have at most ${MAX_BYTES} bytes.`, { connection: 'close' })
    const header = (name: string) => (typeof req.headers[name] === 'string' ? req.headers[name] : null)
    const headers = {
      timestamp: header('x-muster-timestamp'),
      signature: header('x-muster-signature'),
      githubSignature: header('x-hub-signature-256'),
    }
    const signature = verifySignature(trigger.signature, secret, headers, body, new Date())
    if (!signature) return REJECTED
    if (trigger.signature === 'github' && header('x-github-event') === 'ping') return { status: 200, body: { ping: true } }
    const key = header('idempotency-key')
    const parsed = key === null ? null : TriggerIdempotencyKey.safeParse(key)
    if (parsed && !parsed.success) return failed(400, 'Idempotency-Key must have 1 to 200 characters in one line.')
    // Only those who know a secret take a place: others cannot keep them out.
    const request = { body, signature, idempotencyKey: parsed?.data ?? null, address }
    const result = await inTurn(trigger.id, () => receiveTrigger(system, trigger, request))
    if (!result) return TOO_MANY
    if (result.kind === 'limited')
      return failed(429, `The trigger accepts ${result.maxPerHour} requests in an hour.`, {
        'retry-after': String(result.retryAfterSeconds),
      })
    if (result.kind === 'failed') return failed(STATUS[result.code] ?? 409, result.message)
    const { run, isRepeat } = result
    const shown = run && {
      id: globalId('JobRun', run.id),
      number: run.number,
      url: new URL(`/runs/${run.number}`, deps.publicUrl).href,
    }
    return { status: isRepeat ? 200 : 202, body: { run: shown, isRepeat } }
  }

  return async (req, res, id) => {
    const facts = requestFacts(headersOf(req), false)
    let answer: Answer
    try {
      answer = await answerOf(req, id, clientAddress(facts))
    } catch (error) {
      if (error instanceof DomainError) answer = failed(STATUS[error.code] ?? 500, error.message)
      else if (isTransientDbError(error)) answer = failed(503, 'The database is unavailable.', { 'retry-after': '5' })
      else {
        runtime.log.error({ err: error, requestId: facts.requestId }, 'a request to a trigger failed')
        answer = failed(500, 'The request failed; the log of the API has the reason.')
      }
    }
    metrics.triggers.inc({ status: String(answer.status) })
    const { status, headers, body } = answer
    const common = { 'content-type': 'application/json', 'cache-control': 'no-store', 'x-request-id': facts.requestId }
    res.writeHead(status, { ...common, ...headers }).end(`${JSON.stringify(body)}\n`)
  }
}

/** @returns null when it is too large */
async function readBody(req: IncomingMessage): Promise<Buffer | null> {
  if (Number(req.headers['content-length']) > MAX_BYTES) return null
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of req as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > MAX_BYTES) return null
    chunks.push(chunk)
  }
  return Buffer.concat(chunks)
}
