import type { IncomingMessage, ServerResponse } from 'node:http'
import { findTenantId } from '@muster/core/access'
import { type Attempt, tenantCtx } from '@muster/core/context'
import { InvalidInput, Unauthenticated } from '@muster/core/errors'
import { actorRole } from '@muster/core/permissions'
import type { Ctx } from '@muster/core/registry'
import { GraphQLError } from 'graphql'
import type { Api } from '../../api.ts'
import { type ApiDeps, createContext, SIGN_IN } from '../../context.ts'
import { MAX_BODY_BYTES, TOO_MANY_READS } from '../../limits.ts'
import { maskError } from '../../masking.ts'
import { type Caller, callerKey } from '../../sign-in/caller.ts'
import { bodyRejection, readBody } from '../graphql-body.ts'
import { recordRefusal } from '../record-refusal.ts'
import { clientAddress, headersOf, type RequestFacts, requestFacts } from '../request-facts.ts'
import type { Answer, Endpoint, Method } from './request.ts'

const STATUS: Record<string, number> = {
  INVALID_INPUT: 400,
  LIMIT_EXCEEDED: 400,
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  STEP_UP_REQUIRED: 403,
  NOT_FOUND: 404,
  CONFLICT: 409,
  UNAVAILABLE: 503,
}
/** Names of statuses, for RFC 9457. */
const TITLES: Record<number, string> = {
  400: 'Bad Request',
  401: 'Unauthorized',
  403: 'Forbidden',
  404: 'Not Found',
  405: 'Method Not Allowed',
  409: 'Conflict',
  413: 'Content Too Large',
  429: 'Too Many Requests',
  503: 'Service Unavailable',
}

/**
 * Serves one endpoint of SMD or BSS for the tenant of the API token or JWT, and answers errors as RFC 9457 problems. Cookies do not count:
 * the endpoints accept what HTML forms send.
 */
export async function serveOpenchami(
  { deps, reads }: Api,
  endpoints: Partial<Record<Method, Endpoint>>,
  params: Record<string, string | undefined>,
  req: IncomingMessage & { body?: unknown },
  res: ServerResponse,
): Promise<void> {
  const headers = headersOf(req)
  headers.delete('cookie')
  const facts = requestFacts(headers, false)
  const send = ({ status, body, location }: Answer, more: Record<string, string> = {}, type = 'application/json') => {
    const common = { 'cache-control': 'no-store', 'x-request-id': facts.requestId, ...(location ? { location } : {}), ...more }
    if (body === undefined || status === 204) return void res.writeHead(status, common).end()
    res.writeHead(status, { ...common, 'content-type': type })
    res.end(req.method === 'HEAD' ? undefined : `${JSON.stringify(body)}\n`)
  }
  const fail = (status: number, detail: string, more: Record<string, string> = {}) => {
    const problem = { type: 'about:blank', title: TITLES[status] ?? 'Internal Server Error', detail, status }
    send({ status, body: problem }, more, 'application/problem+json')
  }

  const method = (req.method === 'HEAD' ? 'GET' : req.method) as Method
  const endpoint = endpoints[method]
  if (!endpoint) return fail(405, `Use ${Object.keys(endpoints).join(', ')}.`, { allow: Object.keys(endpoints).join(', ') })
  const attempt: Attempt = {}
  let caller: Caller | null = null
  try {
    caller = await deps.auth.findCaller(headers)
    const release = reads.take(callerKey(caller, clientAddress(facts)))
    if (!release) return fail(429, TOO_MANY_READS, { 'retry-after': '1' })
    res.once('close', release)
    const ctx =
      caller || endpoint.isPublic
        ? { ...createContext(deps, facts, caller).ctx, attempt }
        : await anonymousCtx(deps, endpoint.needsToken ? null : method, headers)
    if (method !== 'GET' || endpoint.readsBody) await readBody(req, { limit: MAX_BODY_BYTES, nextStep: 'Split the request.' })
    const rejection = bodyRejection(req)
    if (rejection) return fail(rejection.status, rejection.message)
    if (endpoint.hasBody && typeof req.body !== 'object')
      throw new InvalidInput([{ path: '', message: 'The body must be a JSON object that is not empty.' }])
    const query = new URLSearchParams((req.url ?? '').split('?')[1])
    for (const name of query.keys())
      if (!endpoint.filters?.includes(name.toLowerCase()))
        throw new InvalidInput([{ path: name, message: 'the endpoint has no such parameter' }])
    send(
      await endpoint.handle({
        ctx,
        params: params as Record<string, string>,
        query,
        body: req.body,
        localTargets: deps.localTargets ?? [],
      }),
    )
  } catch (error) {
    if (res.headersSent) throw error
    if (caller && endpoint.action) await recordRefusal(deps, facts, caller, { action: endpoint.action, attempt }, error)
    reportTo(fail, deps, facts, error)
  }
}

function reportTo(
  fail: (status: number, detail: string, more?: Record<string, string>) => void,
  { runtime }: ApiDeps,
  { requestId }: RequestFacts,
  error: unknown,
): void {
  const reported = maskError(error, runtime.log, requestId)
  const code = reported instanceof GraphQLError ? String(reported.extensions.code) : 'INTERNAL'
  const status = STATUS[code] ?? 500
  fail(status, reported.message, status === 401 ? { 'www-authenticate': 'Bearer' } : {})
}

/** Reads the tenant that OPENCHAMI_PUBLIC_TENANT names. @throws Unauthenticated for all other requests without a valid token */
async function anonymousCtx({ runtime, openchami }: ApiDeps, method: Method | null, headers: Headers): Promise<Ctx> {
  const tenantId =
    method === 'GET' && !headers.has('authorization') && openchami?.publicTenant
      ? await findTenantId(runtime.db, openchami.publicTenant)
      : null
  if (tenantId === null) throw new Unauthenticated(SIGN_IN)
  return tenantCtx(runtime, tenantId, { kind: 'token', id: '', name: 'not signed in', userId: null, ...actorRole('viewer') })
}
