import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { AuditAction } from '@muster/core/audit'
import type { Attempt } from '@muster/core/context'
import type { Ctx } from '@muster/core/registry'
import { GraphQLError } from 'graphql'
import type { Api } from '../api.ts'
import { createContext } from '../context.ts'
import { TOO_MANY_READS } from '../limits.ts'
import { maskError } from '../masking.ts'
import { type Caller, callerKey } from '../sign-in/caller.ts'
import { recordRefusal } from './record-refusal.ts'
import { clientAddress, headersOf, requestFacts } from './request-facts.ts'

const STATUS: Record<string, number> = { UNAUTHENTICATED: 401, FORBIDDEN: 403, INVALID_INPUT: 400, UNAVAILABLE: 503 }

/** A GET endpoint for programs. It serves the tenant of the API token in the request. */
export type TokenEndpoint = {
  /** Name in error messages and logs. */
  name: string
  contentType: string
  /** Its action in the audit log; missing: programs read it periodically, and it is not recorded. `read` records success. */
  action?: AuditAction
  /** Validates `params` before it returns content, so that errors still get a status code. */
  read(ctx: Ctx, params: URLSearchParams): Promise<string | Iterable<string> | AsyncIterable<string>>
}

/** Sends the content, or an error as `{ "error": … }`. */
export async function serveTokenEndpoint(
  { deps, reads }: Api,
  { name, contentType, action, read }: TokenEndpoint,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  const facts = requestFacts(headersOf(req), false)
  const { log } = deps.runtime
  const commonHeaders = { 'cache-control': 'no-store', 'x-request-id': facts.requestId }
  const sendError = (status: number, error: string, headers: Record<string, string> = {}) =>
    res
      .writeHead(status, { 'content-type': 'application/json', ...commonHeaders, ...headers })
      .end(req.method === 'HEAD' ? undefined : `${JSON.stringify({ error })}\n`)
  if (req.method !== 'GET' && req.method !== 'HEAD')
    return void sendError(405, `Read the ${name} with GET.`, { allow: 'GET, HEAD' })
  const attempt: Attempt = {}
  let found: Caller | null = null
  try {
    const start = performance.now()
    found = await deps.auth.findCaller(facts.headers)
    const { ctx, caller } = createContext(deps, facts, found)
    const release = reads.take(callerKey(found, clientAddress(facts)))
    if (!release) return void sendError(429, TOO_MANY_READS, { 'retry-after': '1' })
    res.once('close', release)
    const content = await read(found ? { ...ctx, attempt } : ctx, new URLSearchParams((req.url ?? '').split('?')[1]))
    res.writeHead(200, { 'content-type': contentType, ...commonHeaders })
    if (req.method === 'HEAD' || typeof content === 'string') res.end(req.method === 'HEAD' ? undefined : content)
    else await pipeline(Readable.from(content), res)
    log.info({ requestId: facts.requestId, user: caller?.actor.name, ms: Math.round(performance.now() - start) }, name)
  } catch (error) {
    if (res.headersSent) throw error
    if (action) await recordRefusal(deps, facts, found, { action, attempt }, error)
    const reported = maskError(error, log, facts.requestId)
    const code = reported instanceof GraphQLError ? String(reported.extensions.code) : 'INTERNAL'
    sendError(STATUS[code] ?? 500, reported.message, code === 'UNAUTHENTICATED' ? { 'www-authenticate': 'Bearer' } : {})
  }
}
