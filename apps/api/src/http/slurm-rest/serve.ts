import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Api } from '../../api.ts'
import { admitRequest } from '../admit-request.ts'
import { bodyRejection } from '../graphql-body.ts'
import { headersOf, requestFacts } from '../request-facts.ts'
import type { Method, RestEndpoint } from './endpoints.ts'

type Issue = { path: string; message: string }
type Failure = { code: string; message: string; issues?: Issue[]; limit?: string }
type GraphqlResponse = {
  data?: { result?: Json | null } | null
  errors?: { message: string; extensions: { code: string; limit?: string; issues?: Issue[] } }[]
}
type Json = Record<string, unknown>
type Answer = { status: number; body: unknown; headers?: Record<string, string> }

const STATUS: Record<string, number> = {
  BAD_REQUEST: 400,
  INVALID_INPUT: 400,
  LIMIT_EXCEEDED: 400,
  UNAUTHENTICATED: 401,
  FORBIDDEN: 403,
  STEP_UP_REQUIRED: 403,
  NOT_FOUND: 404,
  CONFLICT: 409,
  UNAVAILABLE: 503,
}
const LIMIT_STATUS: Record<string, number> = { BODY: 413, LARGE_BODIES: 429, OPERATIONS: 429, REJECTIONS: 429 }
/** Headers that describe the body of the request, which is replaced. */
const BODY_HEADERS = ['content-length', 'content-encoding', 'transfer-encoding', 'connection', 'expect', 'accept-encoding']

/**
 * Executes the GraphQL operation of an endpoint with the headers of the request, and answers with its result as JSON. Yoga checks the
 * origin, the limits and the caller's permissions, as in any other operation.
 */
export async function serveRest(
  api: Api,
  endpoints: Partial<Record<Method, RestEndpoint>>,
  id: string | undefined,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
  const headers = headersOf(req)
  const { requestId } = requestFacts(headers, false)
  headers.set('x-request-id', requestId)
  const answer = await answerOf(api, endpoints, { id, headers }, req, res)
  const common = { 'content-type': 'application/json', 'cache-control': 'no-store', 'x-request-id': requestId }
  res.writeHead(answer.status, { ...common, ...answer.headers }).end(`${JSON.stringify(answer.body)}\n`)
}

async function answerOf(
  api: Api,
  endpoints: Partial<Record<Method, RestEndpoint>>,
  { id, headers }: { id: string | undefined; headers: Headers },
  req: IncomingMessage & { body?: unknown },
  res: ServerResponse,
): Promise<Answer> {
  const endpoint = endpoints[(req.method === 'HEAD' ? 'GET' : req.method) as Method]
  if (!endpoint) {
    const allow = Object.keys(endpoints).join(', ')
    return { ...failed({ code: 'BAD_REQUEST', message: `Use ${allow}.` }), status: 405, headers: { allow } }
  }
  // HTML forms of other sites can send every other content type without a CORS preflight.
  if (req.method === 'POST' && !/^application\/json\b/.test(req.headers['content-type'] ?? ''))
    return { ...failed({ code: 'INVALID_INPUT', message: 'Send the body as application/json.' }), status: 415 }
  await admitRequest(api, req, res)
  const body = req.method === 'POST' ? jsonObject(req.body) : {}
  const query = new URLSearchParams((req.url ?? '').split('?')[1])
  // Yoga answers a body that was rejected.
  const invalid = bodyRejection(req) ? null : invalidRequest(endpoint, body, query)
  if (invalid) return failed(invalid)

  const page = endpoint.isPaged ? { first: toInt(query.get('first')), after: query.get('after') } : {}
  const variables = { ...(id === undefined ? {} : { id }), ...page, ...(endpoint.hasBody ? { input: body } : {}) }
  for (const name of BODY_HEADERS) headers.delete(name)
  headers.set('content-type', 'application/json')
  headers.set('accept', 'application/json')
  const init = { method: 'POST', headers, body: JSON.stringify({ query: endpoint.document, variables }) }
  const response = await api.yoga.fetch(new URL('/graphql', api.deps.publicUrl), init, { req } as never)
  return answerOfResult(endpoint, (await response.json()) as GraphqlResponse)
}

function answerOfResult({ field, status = 200 }: RestEndpoint, { data, errors }: GraphqlResponse): Answer {
  if (errors?.[0]) {
    const { message, extensions } = errors[0]
    return failed({ message, ...variableFailure(message), ...extensions })
  }
  const result = data?.result
  if (result && 'code' in result) return failed(result as Failure)
  const object = result && field ? (result[field] as Json) : result
  // An ID of an object of another type selects no field.
  if (!object || !Object.keys(object).length) return failed({ code: 'NOT_FOUND', message: 'There is no object with this ID.' })
  return { status, body: foldConnections(object) }
}

function failed({ code, message, issues, limit }: Failure): Answer {
  const status = LIMIT_STATUS[limit ?? ''] ?? STATUS[code] ?? 500
  const headers: Record<string, string> =
    status === 401 ? { 'www-authenticate': 'Bearer' } : status === 429 ? { 'retry-after': '1' } : {}
  return { status, headers, body: { code, message, ...(issues ? { issues } : {}), ...(limit ? { limit } : {}) } }
}

/** Names of fields are checked by GraphQL where the endpoint has a body. */
function invalidRequest({ hasBody, isPaged }: RestEndpoint, body: Json | null, query: URLSearchParams): Failure | null {
  if (!body) return { code: 'INVALID_INPUT', message: 'The body must be a JSON object.' }
  const fields = hasBody ? [] : Object.keys(body)
  const parameters = [...query.keys()].filter((name) => !isPaged || !['first', 'after'].includes(name))
  const issues = [
    ...fields.map((path) => ({ path, message: 'The endpoint has no such field.' })),
    ...parameters.map((path) => ({ path, message: 'The endpoint has no such parameter.' })),
  ]
  return issues.length ? { code: 'INVALID_INPUT', message: `${issues[0]!.path}: ${issues[0]!.message}`, issues } : null
}

/** Names the field of an invalid variable, from a message such as `$input.maxNodes: Int cannot represent …`. */
function variableFailure(text: string): Pick<Failure, 'message' | 'issues'> | null {
  const [, variable, message = ''] = /^\$(?:input\b\.?)?([\w.]*): (.*)$/s.exec(text) ?? []
  if (variable === undefined) return null
  const path = variable || (/^Field "(\w+)"/.exec(message)?.[1] ?? '')
  return { message: [path, message].filter(Boolean).join(': '), issues: [{ path, message }] }
}

/** The body that `readBody` parsed; null when it is no JSON object. */
function jsonObject(body: unknown): Json | null {
  if (typeof body === 'string') return ['', '{}'].includes(body.replace(/\s/g, '')) ? {} : null
  return body && !Array.isArray(body) ? (body as Json) : null
}

/** A number for GraphQL, which rejects other texts. */
const toInt = (text: string | null) => (text !== null && /^\d+$/.test(text) ? Number(text) : text)

/** Replaces each connection by `{ items, totalCount, nextCursor }`. */
function foldConnections(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(foldConnections)
  if (typeof value !== 'object' || value === null) return value
  const { edges, pageInfo, ...rest } = value as Json & { edges?: { node: unknown }[]; pageInfo?: Json }
  const members = Object.fromEntries(Object.entries(rest).map(([name, member]) => [name, foldConnections(member)]))
  if (!edges) return members
  return {
    items: edges.map(({ node }) => foldConnections(node)),
    ...members,
    nextCursor: pageInfo?.hasNextPage ? pageInfo.endCursor : null,
  }
}
