import { type Agent, type ClientRequest, type IncomingHttpHeaders, type IncomingMessage, request as overHttp } from 'node:http'
import { request as overHttps } from 'node:https'
import type { LookupFunction } from 'node:net'
import type { Duplex } from 'node:stream'
import { certificateProblem } from './certificate-problem.ts'
import { endpointOf, resolveTarget, TargetError } from './resolve-target.ts'
import type { LocalTarget } from './settings.ts'

/**
 * `ca`: PEM certificates of the only accepted authorities; default: those that the process trusts. `agent`: opens the connection and checks
 * the certificate instead, see `createVerifyingAgent`.
 */
export type OutboundRequest = {
  url: URL
  method: string
  headers: Record<string, string>
  body?: string
  ca?: string | undefined
  agent?: Agent
}
/** `isCut`: the body was longer than `maxBytes`, and `text` is its beginning. */
export type OutboundResponse = { status: number; headers: IncomingHttpHeaders; text: string; isCut: boolean }
type ResponseLimits = { timeoutMs: number; maxBytes: number; signal?: AbortSignal }
export type OutboundLimits = ResponseLimits & { localTargets: readonly LocalTarget[] }

/** A request without a response. The message continues a sentence that begins with the server. */
export class RequestError extends Error {
  readonly kind: 'timeout' | 'certificate' | 'unreachable'
  /** SHA-256 of the rejected certificate, when a verifying agent rejected it. */
  readonly fingerprint: string | null
  constructor(kind: RequestError['kind'], message: string, fingerprint: string | null = null) {
    super(message)
    this.kind = kind
    this.fingerprint = fingerprint
  }
}

/**
 * Sends an HTTP request to a URL that a user set. Connects only to the address that was checked, follows no redirects, and uses no
 * proxy. No library: fetch and its clients cannot pin an address per request without a dispatcher of another package.
 * @throws TargetError when the target is not allowed or does not resolve; RequestError; the reason of `signal`
 */
export async function sendRequest(
  { url, method, headers, body = '', ca, agent }: OutboundRequest,
  { localTargets, ...limits }: OutboundLimits,
): Promise<OutboundResponse> {
  if (!/^https?:$/.test(url.protocol) || url.username || url.password)
    throw new TargetError(`${url.origin} is not an http or https URL without a name and password.`)
  limits.signal?.throwIfAborted()
  const { host, port } = endpointOf(url)
  const found = await resolveTarget(host, port, localTargets)
  const request = url.protocol === 'https:' ? overHttps : overHttp
  const options = {
    method,
    headers: { ...headers, 'content-length': String(Buffer.byteLength(body)) },
    lookup: ((_name, { all }, done) =>
      all ? done(null, found) : done(null, found[0]!.address, found[0]!.family)) satisfies LookupFunction,
    agent: agent ?? false,
    ...(ca === undefined ? {} : { ca }),
  }
  return receive((signal, onResponse) => request(url, { ...options, signal }, onResponse), body, limits, ca)
}

/**
 * Sends a GET request over an open connection, such as one to a Unix socket, and closes it.
 * @throws RequestError; the reason of `signal`
 */
export function sendOver(
  connection: Duplex,
  { path, headers }: { path: string; headers: Record<string, string> },
  limits: ResponseLimits,
): Promise<OutboundResponse> {
  const options = { host: 'localhost', path, headers, createConnection: () => connection }
  return receive((signal, onResponse) => overHttp({ ...options, signal }, onResponse), '', limits).finally(() =>
    connection.destroy(),
  )
}

function receive(
  open: (signal: AbortSignal, onResponse: (response: IncomingMessage) => void) => ClientRequest,
  body: string,
  { timeoutMs, maxBytes, signal }: ResponseLimits,
  ca?: string,
): Promise<OutboundResponse> {
  const ending = AbortSignal.timeout(timeoutMs)
  return new Promise((resolve, reject) => {
    const onError = (error: NodeJS.ErrnoException) =>
      reject(signal?.aborted ? signal.reason : ending.aborted ? timeoutError(timeoutMs) : errorOf(error, ca))
    const sent = open(signal ? AbortSignal.any([signal, ending]) : ending, (response) => {
      const chunks: Buffer[] = []
      let size = 0
      response.on('data', (chunk: Buffer) => {
        size += chunk.length
        if (size <= maxBytes) chunks.push(chunk)
        else response.destroy()
      })
      // The connection ended within the body.
      response.on('error', (error: NodeJS.ErrnoException) =>
        error.code === 'ECONNRESET' && !signal?.aborted && !ending.aborted ? reject(incompleteError()) : onError(error),
      )
      response.on('close', () =>
        resolve({
          status: response.statusCode!,
          headers: response.headers,
          text: Buffer.concat(chunks).toString('utf8'),
          isCut: size > maxBytes,
        }),
      )
    })
    sent.on('error', onError)
    sent.end(body)
  })
}

const incompleteError = () => new RequestError('unreachable', 'closed the connection before the end of its response')
const timeoutError = (timeoutMs: number) => new RequestError('timeout', `did not respond within ${timeoutMs / 1000} s`)

function errorOf(error: NodeJS.ErrnoException, ca?: string): RequestError {
  if (error instanceof RequestError) return error
  const authority =
    ca === undefined ? 'its CA in NODE_EXTRA_CA_CERTS of the API and the workers' : 'the CA certificate of its issuer'
  const problem = certificateProblem(error, authority)
  if (problem) return new RequestError('certificate', problem)
  if (error.code?.startsWith('HPE_')) return new RequestError('unreachable', `does not respond with HTTP (${error.code})`)
  return new RequestError('unreachable', `cannot be reached (${error.code ?? error.message})`)
}
