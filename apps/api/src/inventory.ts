import type { IncomingMessage, ServerResponse } from 'node:http'
import { readInventory } from '@muster/core/variables'
import { GraphQLError } from 'graphql'
import { createContext } from './context.ts'
import { maskError } from './masking.ts'
import { requestFacts } from './request-facts.ts'
import type { Api } from './server.ts'

export const INVENTORY_PATH = '/api/inventory'

const STATUS: Record<string, number> = { UNAUTHENTICATED: 401, FORBIDDEN: 403, INVALID_INPUT: 400, UNAVAILABLE: 503 }

/** `GET /api/inventory?limit=…`: what `ansible-inventory --list` prints, of the tenant of the API token that comes with it. */
export async function serveInventory({ deps }: Api, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const headers = new Headers(Object.entries(req.headers).map(([name, value]): [string, string] => [name, String(value)]))
  const facts = requestFacts(headers, false)
  const { log } = deps.runtime
  const answer = (status: number, body: unknown, more: Record<string, string> = {}) =>
    res
      .writeHead(status, {
        'content-type': 'application/json',
        'cache-control': 'no-store',
        'x-request-id': facts.requestId,
        ...more,
      })
      .end(req.method === 'HEAD' ? undefined : `${JSON.stringify(body)}\n`)
  if (req.method !== 'GET' && req.method !== 'HEAD')
    return void answer(405, { error: 'The inventory is read by GET.' }, { allow: 'GET, HEAD' })
  try {
    const start = performance.now()
    const { ctx, caller } = createContext(deps, facts, await deps.auth.findCaller(headers))
    const inventory = await readInventory(ctx, new URLSearchParams((req.url ?? '').split('?')[1]).get('limit'))
    answer(200, inventory)
    log.info({ requestId: facts.requestId, user: caller?.actor.name, ms: Math.round(performance.now() - start) }, 'inventory')
  } catch (error) {
    const told = maskError(error, log, facts.requestId)
    const code = told instanceof GraphQLError ? String(told.extensions.code) : 'INTERNAL'
    answer(STATUS[code] ?? 500, { error: told.message }, code === 'UNAUTHENTICATED' ? { 'www-authenticate': 'Bearer' } : {})
  }
}
