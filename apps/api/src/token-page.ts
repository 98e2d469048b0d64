import type { IncomingMessage, ServerResponse } from 'node:http'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Ctx } from '@muster/core/context'
import { GraphQLError } from 'graphql'
import { createContext } from './context.ts'
import { maskError } from './masking.ts'
import { requestFacts } from './request-facts.ts'
import type { Api } from './server.ts'

const STATUS: Record<string, number> = { UNAUTHENTICATED: 401, FORBIDDEN: 403, INVALID_INPUT: 400, UNAVAILABLE: 503 }

/** Something that programs read by GET, of the tenant of the API token that comes with it. */
export type TokenPage = {
  /** How messages and the log call it. */
  name: string
  contentType: string
  /** What is wrong with `params` it throws before it gives anything. */
  read(ctx: Ctx, params: URLSearchParams): Promise<string | Iterable<string> | AsyncIterable<string>>
}

/** Answer with a page, or with `{ "error": … }`. */
export async function serveTokenPage(
  { deps }: Api,
  { name, contentType, read }: TokenPage,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  const headers = new Headers(Object.entries(req.headers).map(([name, value]): [string, string] => [name, String(value)]))
  const facts = requestFacts(headers, false)
  const { log } = deps.runtime
  const always = { 'cache-control': 'no-store', 'x-request-id': facts.requestId }
  const refuse = (status: number, error: string, more: Record<string, string> = {}) =>
    res
      .writeHead(status, { 'content-type': 'application/json', ...always, ...more })
      .end(req.method === 'HEAD' ? undefined : `${JSON.stringify({ error })}\n`)
  if (req.method !== 'GET' && req.method !== 'HEAD')
    return void refuse(405, `The ${name} is read by GET.`, { allow: 'GET, HEAD' })
  try {
    const start = performance.now()
    const { ctx, caller } = createContext(deps, facts, await deps.auth.findCaller(headers))
    const page = await read(ctx, new URLSearchParams((req.url ?? '').split('?')[1]))
    res.writeHead(200, { 'content-type': contentType, ...always })
    if (req.method === 'HEAD' || typeof page === 'string') res.end(req.method === 'HEAD' ? undefined : page)
    else await pipeline(Readable.from(page), res)
    log.info({ requestId: facts.requestId, user: caller?.actor.name, ms: Math.round(performance.now() - start) }, name)
  } catch (error) {
    if (res.headersSent) throw error
    const told = maskError(error, log, facts.requestId)
    const code = told instanceof GraphQLError ? String(told.extensions.code) : 'INTERNAL'
    refuse(STATUS[code] ?? 500, told.message, code === 'UNAUTHENTICATED' ? { 'www-authenticate': 'Bearer' } : {})
  }
}
