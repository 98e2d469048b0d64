import type { IncomingMessage, ServerResponse } from 'node:http'
import { type Actor, tenantCtx } from '@muster/core/context'
import { DomainError } from '@muster/core/errors'
import type { Ctx } from '@muster/core/registry'
import { isTransientDbError } from '@muster/core/retry-transient'
import { findPowerClient, type PowerClient, requestSlurmPower } from '@muster/core/slurm-power'
import type { Api } from '../api.ts'
import { callerKey } from '../sign-in/caller.ts'
import { clientAddress, headersOf, type RequestFacts, requestFacts } from './request-facts.ts'

/** Enough for a hostlist of 10,000 unrelated names. */
const MAX_BYTES = 1 << 20
/** Limits concurrent transactions. The programs on the controllers repeat rejected requests. */
const MAX_CONCURRENT = 32
const STATUS: Record<string, number> = { NOT_FOUND: 404, FORBIDDEN: 403, INVALID_INPUT: 400, CONFLICT: 409 }

type Answer = { status: number; body: unknown; headers?: Record<string, string> }
const failed = (status: number, error: string, headers: Record<string, string> = {}): Answer => ({
  status,
  body: { error },
  headers,
})

const TOO_MANY = failed(429, 'Too many requests.', { 'retry-after': '1' })

/**
 * `POST /api/slurm/power` with `{"verb": "SUSPEND" | "RESUME", "nodes": HOSTLIST}`: the programs on the controllers of a cluster with power
 * saving call it. Their token permits nothing else.
 */
export function serveSlurmPower({ deps, reads }: Api): (req: IncomingMessage, res: ServerResponse) => Promise<void> {
  const { runtime } = deps
  let inProgress = 0

  async function answerOf(req: IncomingMessage, facts: RequestFacts): Promise<Answer> {
    if (req.method !== 'POST') return failed(405, 'Use POST.', { allow: 'POST' })
    const token = /^Bearer (msp_[\w-]{43})$/.exec(req.headers.authorization ?? '')?.[1]
    const client = token ? await findClient(token, facts) : null
    if (client === 'BUSY') return TOO_MANY
    if (!client)
      return failed(
        401,
        'The token is not valid. Power saving of the cluster was turned off, or its settings were applied again.',
        {
          'www-authenticate': 'Bearer',
        },
      )
    // Only those with a valid token take a place: others cannot keep controllers out.
    if (inProgress >= MAX_CONCURRENT) return TOO_MANY
    inProgress++
    try {
      return await execute(req, facts, client)
    } finally {
      inProgress--
    }
  }

  /** The number of lookups at once is limited for each address. */
  async function findClient(token: string, facts: RequestFacts): Promise<PowerClient | 'BUSY' | null> {
    const release = reads.take(callerKey(null, clientAddress(facts)))
    if (!release) return 'BUSY'
    try {
      return await findPowerClient(runtime, token)
    } finally {
      release()
    }
  }

  async function execute(req: IncomingMessage, facts: RequestFacts, client: PowerClient): Promise<Answer> {
    if (!/^application\/json\b/.test(req.headers['content-type'] ?? '')) return failed(415, 'Send the body as application/json.')
    const body = await readJson(req)
    if (body === undefined)
      return failed(400, `The body must be a JSON object of at most ${MAX_BYTES} bytes.`, { connection: 'close' })
    const actor: Actor = { kind: 'system', id: null, name: `slurmctld of ${client.cluster}` }
    const origin = { channel: 'api' as const, address: clientAddress(facts), userAgent: null, sessionId: null }
    const ctx = { ...tenantCtx(runtime, client.tenantId, actor), requestId: facts.requestId, origin } as Ctx
    const { verb, nodes } = body as { verb: never; nodes: never }
    return { status: 200, body: await requestSlurmPower(ctx, { clusterId: client.clusterId, verb, hostlist: nodes }) }
  }

  return async (req, res) => {
    const facts = requestFacts(headersOf(req), false)
    let answer: Answer
    try {
      answer = await answerOf(req, facts)
    } catch (error) {
      if (error instanceof DomainError) answer = failed(STATUS[error.code] ?? 500, error.message)
      else if (isTransientDbError(error)) answer = failed(503, 'The database is unavailable.', { 'retry-after': '5' })
      else {
        runtime.log.error({ err: error, requestId: facts.requestId }, 'a request of slurmctld failed')
        answer = failed(500, 'The request failed; the log of the API has the reason.')
      }
    }
    const { status, headers, body } = answer
    const common = { 'content-type': 'application/json', 'cache-control': 'no-store', 'x-request-id': facts.requestId }
    res.writeHead(status, { ...common, ...headers }).end(`${JSON.stringify(body)}\n`)
  }
}

/** @returns undefined when it is too large, or no JSON object */
async function readJson(req: IncomingMessage): Promise<object | undefined> {
  const chunks: Buffer[] = []
  let size = 0
  for await (const chunk of req as AsyncIterable<Buffer>) {
    size += chunk.length
    if (size > MAX_BYTES) return undefined
    chunks.push(chunk)
  }
  try {
    const value: unknown = JSON.parse(Buffer.concat(chunks).toString('utf8'))
    return typeof value === 'object' && value !== null && !Array.isArray(value) ? value : undefined
  } catch {
    return undefined
  }
}
