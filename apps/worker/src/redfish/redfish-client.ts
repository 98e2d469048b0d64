import { isIPv6 } from 'node:net'
import { setTimeout } from 'node:timers/promises'
import {
  type CertificatePolicy,
  createVerifyingAgent,
  type LocalTarget,
  type OutboundResponse,
  RequestError,
  sendRequest,
  TargetError,
} from '@muster/core/outbound'
import { plainText } from './plain-text.ts'

/** BMCs answer some requests only after seconds. */
const TIMEOUT_MS = 30_000
const MAX_BYTES = 2 * 1024 * 1024
/** A reading of sensors and events needs some dozens. */
const MAX_REQUESTS = 300
const MAX_RETRY_MS = 5000
const RETRIES = 3

export type RedfishServer = CertificatePolicy & { address: string; port: number }
export type RedfishLimits = { localTargets: readonly LocalTarget[]; signal: AbortSignal; timeoutMs?: number; retryMs?: number }
export type JsonObject = Record<string, unknown>

/**
 * Why a request to a BMC had no success; for the operator. REFUSED: the BMC answered, and did not execute the request. BUSY: it cannot now.
 * INVALID: its answer cannot be used. LOGIN: it refuses the user name or password. Others: it did not answer, so that it may have executed
 * the request, except CERTIFICATE and TARGET, before which nothing is sent.
 */
export class RedfishError extends Error {
  readonly kind: 'REFUSED' | 'BUSY' | 'INVALID' | 'LOGIN' | 'UNREACHABLE' | 'CERTIFICATE' | 'TARGET'
  readonly status: number | null
  /** SHA-256 of the rejected certificate. */
  readonly fingerprint: string | null
  constructor(kind: RedfishError['kind'], message: string, more: { status?: number; fingerprint?: string | null } = {}) {
    super(message)
    this.kind = kind
    this.status = more.status ?? null
    this.fingerprint = more.fingerprint ?? null
  }
}

type Session = { headers: Record<string, string>; path: string | null }
export type Resource = { path: string; body: JsonObject; etag: string | null }
export type RedfishClient = {
  /** The service root, which needs no login. */
  root(): Promise<Resource>
  get(path: string): Promise<Resource>
  post(path: string, body: JsonObject): Promise<void>
  /** Changes a resource if it is still as it was read. */
  patch(resource: Resource, body: JsonObject): Promise<void>
  /** Ends the session at the BMC, which permits only few, and the connection. */
  close(): Promise<void>
}

const ROOT = '/redfish/v1/'

/**
 * A client of a Redfish service, over HTTPS only. Signs in at the first request, with a session or, when the service has none, with basic
 * authentication; and once more when the session has expired. Links are followed only within the service.
 *
 * Written here, because power runs depend on how the client connects and fails. Nothing is sent before the certificate matches the pin
 * or CA of the BMC. Connections go through `outbound`, which rejects local addresses and follows no redirects. Errors distinguish a refusal
 * from a lost answer, after which a command must not be repeated. Sessions are closed. The used part of Redfish is small.
 * @throws RedfishError; the reason of the signal
 */
export function createRedfishClient(
  { address, port, ...policy }: RedfishServer,
  login: { username: string; password: string } | null,
  { timeoutMs = TIMEOUT_MS, retryMs = 1000, ...limits }: RedfishLimits,
): RedfishClient {
  const origin = `https://${isIPv6(address) ? `[${address}]` : address}:${port}`
  const agent = createVerifyingAgent(policy, 'compare its fingerprint on site, then pin the new one')
  const named = (what: string) => `The BMC ${address} ${what}.`
  let requests = 0
  let session: Session | null = null

  async function send(method: string, path: string, body?: JsonObject, headers: Record<string, string> = {}) {
    if (++requests > MAX_REQUESTS) throw new RedfishError('INVALID', named(`needs more than ${MAX_REQUESTS} requests`))
    try {
      const answer = await sendRequest(
        {
          url: new URL(path, origin),
          method,
          headers: {
            accept: 'application/json',
            'odata-version': '4.0',
            ...(body ? { 'content-type': 'application/json' } : {}),
            ...headers,
          },
          ...(body ? { body: JSON.stringify(body) } : {}),
          agent,
        },
        { ...limits, timeoutMs, maxBytes: MAX_BYTES },
      )
      if (answer.isCut) throw new RedfishError('INVALID', named('sends more than 2 MB'))
      if (answer.status >= 300 && answer.status < 400) {
        const message = `redirects (${answer.status}), which is not followed; set its own address and port`
        throw new RedfishError('REFUSED', named(message), { status: answer.status })
      }
      return answer
    } catch (error) {
      if (error instanceof TargetError) throw new RedfishError('TARGET', error.message)
      if (!(error instanceof RequestError)) throw error
      const { kind, fingerprint } = error
      throw new RedfishError(kind === 'certificate' ? 'CERTIFICATE' : 'UNREACHABLE', named(error.message), { fingerprint })
    }
  }

  async function signIn(): Promise<Session> {
    if (!login) return { headers: {}, path: null }
    const { username, password } = login
    const { body } = await root()
    const sessions = linkOf(objectOf(body.Links).Sessions) ?? null
    if (sessions !== null) {
      const answer = await send('POST', safePath(sessions), { UserName: username, Password: password })
      const token = answer.headers['x-auth-token']
      if (answer.status < 300 && typeof token === 'string') {
        const path = sessionPath(answer)
        return { headers: { 'x-auth-token': token }, path }
      }
      if (answer.status === 401 || answer.status === 403 || answer.status === 400) throw refusedLogin(answer)
      if (answer.status === 503 || answer.status === 429 || answer.status === 507) throw failure(answer)
    }
    const basic = Buffer.from(`${username}:${password}`).toString('base64')
    return { headers: { authorization: `Basic ${basic}` }, path: null }
  }

  const refusedLogin = (answer: OutboundResponse) =>
    new RedfishError('LOGIN', named(`refuses the user name or password (${answer.status})${because(answer)}`), answer)

  function failure(answer: OutboundResponse): RedfishError {
    const { status } = answer
    if (status === 401) return refusedLogin(answer)
    if (status === 403)
      return new RedfishError('REFUSED', named(`does not permit this to the user (403)${because(answer)}`), answer)
    if (status === 503 || status === 429) return new RedfishError('BUSY', named(`is busy (${status})${because(answer)}`), answer)
    if (status === 404) return new RedfishError('REFUSED', named(`has no such resource (404)${because(answer)}`), answer)
    return new RedfishError('REFUSED', named(`refuses the request (${status})${because(answer)}`), answer)
  }

  /** Sends a request with the login. A 401 means that it was not executed. */
  async function authorized(method: string, path: string, body?: JsonObject, headers: Record<string, string> = {}) {
    session ??= await signIn()
    const answer = await send(method, path, body, { ...session.headers, ...headers })
    if (answer.status !== 401 || session.path === null) return answer
    session = null
    session = await signIn()
    return send(method, path, body, { ...session.headers, ...headers })
  }

  async function read(path: string, ask: () => Promise<OutboundResponse>): Promise<Resource> {
    for (let attempt = 1; ; attempt++) {
      const answer = await ask()
      if (answer.status === 200) {
        const body = parseObject(answer.text)
        if (!body) throw new RedfishError('INVALID', named(`answers ${path} with no complete JSON object`))
        const etag = answer.headers.etag ?? body['@odata.etag']
        return { path, body, etag: typeof etag === 'string' && /^[\x21-\x7e]{1,200}$/.test(etag) ? etag : null }
      }
      const error = failure(answer)
      if (error.kind !== 'BUSY' || attempt > RETRIES) throw error
      const seconds = Number(answer.headers['retry-after'])
      await setTimeout(Math.min(seconds > 0 ? seconds * 1000 : retryMs, MAX_RETRY_MS), null, { signal: limits.signal })
    }
  }

  const root = () => read(ROOT, () => send('GET', ROOT))

  function safePath(link: string): string {
    if (/^\/redfish\/v1(\/[A-Za-z0-9._:~%()$@'=,+#-]+)*\/?$/.test(link) && !/\/\.{1,2}(\/|$)/.test(link) && !/%2[ef]/i.test(link))
      return link
    throw new RedfishError('INVALID', named(`has a link outside of its service: ${plainText(link, 100)}`))
  }
  /** Path of a new session, from a relative or absolute URL. */
  function sessionPath(answer: OutboundResponse): string | null {
    const url = URL.parse(answer.headers.location ?? String(parseObject(answer.text)?.['@odata.id'] ?? ''), origin)
    try {
      return url && safePath(url.pathname)
    } catch {
      return null
    }
  }

  return {
    root,
    get: (path) => read(path, () => authorized('GET', safePath(path))),
    async post(path, body) {
      const answer = await authorized('POST', safePath(path), body)
      if (answer.status >= 300) throw failure(answer)
    },
    async patch({ path, etag }, body) {
      const answer = await authorized('PATCH', safePath(path), body, etag === null ? {} : { 'if-match': etag })
      if (answer.status >= 300) throw failure(answer)
    },
    async close() {
      const open = session as Session | null
      session = null
      try {
        // The request must not wait for a signal that has fired, nor for a silent BMC.
        if (open?.path) {
          const closing = { ...limits, signal: AbortSignal.timeout(5000), timeoutMs: 5000, maxBytes: MAX_BYTES }
          await sendRequest({ url: new URL(open.path, origin), method: 'DELETE', headers: open.headers, agent }, closing)
        }
      } catch {
        // The BMC ends the session by its timeout.
      } finally {
        agent.destroy()
      }
    },
  }
}

/** The BMC's explanation of an error, from its extended information. */
function because(answer: OutboundResponse): string {
  const error = objectOf(parseObject(answer.text)?.error)
  const infos = listOf(error['@Message.ExtendedInfo']).map(objectOf)
  const messages = infos.flatMap(({ Message: message }) => (typeof message === 'string' && message.trim() ? [message] : []))
  const own = typeof error.message === 'string' && !/ExtendedInfo/i.test(error.message) ? [error.message] : []
  const text = plainText([...new Set(messages.length > 0 ? messages : own)].slice(0, 3).join(' '), 500).replace(/\.$/, '')
  return text === '' ? '' : `: ${text}`
}

export function parseObject(text: string): JsonObject | null {
  try {
    const value: unknown = JSON.parse(text)
    return value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as JsonObject) : null
  } catch {
    return null
  }
}
export const objectOf = (value: unknown): JsonObject =>
  value !== null && typeof value === 'object' && !Array.isArray(value) ? (value as JsonObject) : {}
export const listOf = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
export const linkOf = (value: unknown): string | undefined => {
  const link = objectOf(value)['@odata.id']
  return typeof link === 'string' ? link : undefined
}
