import { type IncomingHttpHeaders, request as overHttp } from 'node:http'
import { request as overHttps } from 'node:https'
import { certificateProblem } from './certificate-problem.ts'
import { endpointOf, resolveTarget, TargetError } from './resolve-target.ts'
import type { LocalTarget } from './settings.ts'

/** `ca`: PEM certificates of the only accepted authorities; default: those that the process trusts. */
export type OutboundRequest = {
  url: URL
  method: string
  headers: Record<string, string>
  body?: string
  ca?: string | undefined
}
/** `isCut`: the body was longer than `maxBytes`, and `text` is its beginning. */
export type OutboundResponse = { status: number; headers: IncomingHttpHeaders; text: string; isCut: boolean }
export type OutboundLimits = {
  localTargets: readonly LocalTarget[]
  timeoutMs: number
  maxBytes: number
  signal?: AbortSignal
}

/** A request without a response. The message continues a sentence that begins with the server. */
export class RequestError extends Error {
  readonly kind: 'timeout' | 'certificate' | 'unreachable'
  constructor(kind: RequestError['kind'], message: string) {
    super(message)
    this.kind = kind
  }
}

/**
 * Sends an HTTP request to a URL that a user set. Connects only to the address that was checked, follows no redirects, and uses no
 * proxy. No library: fetch and its clients cannot pin an address per request without a dispatcher of another package.
 * @throws TargetError when the target is not allowed or does not resolve; RequestError; the reason of `signal`
 */
export async function sendRequest(
  { url, method, headers, body = '', ca }: OutboundRequest,
  { localTargets, timeoutMs, maxBytes, signal }: OutboundLimits,
): Promise<OutboundResponse> {
  if (!/^https?:$/.test(url.protocol) || url.username || url.password)
    throw new TargetError(`${url.origin} is not an http or https URL without a name and password.`)
  signal?.throwIfAborted()
  const { host, port } = endpointOf(url)
  const found = await resolveTarget(host, port, localTargets)
  const request = url.protocol === 'https:' ? overHttps : overHttp
  const ending = AbortSignal.timeout(timeoutMs)
  return new Promise((resolve, reject) => {
    const onError = (error: NodeJS.ErrnoException) =>
      reject(signal?.aborted ? signal.reason : ending.aborted ? timeoutError(timeoutMs) : errorOf(error, ca))
    const sent = request(
      url,
      {
        method,
        headers: { ...headers, 'content-length': String(Buffer.byteLength(body)) },
        lookup: (_name, { all }, done) => (all ? done(null, found) : done(null, found[0]!.address, found[0]!.family)),
        signal: signal ? AbortSignal.any([signal, ending]) : ending,
        agent: false,
        ...(ca === undefined ? {} : { ca }),
      },
      (response) => {
        const chunks: Buffer[] = []
        let size = 0
        response.on('data', (chunk: Buffer) => {
          size += chunk.length
          if (size <= maxBytes) chunks.push(chunk)
          else response.destroy()
        })
        response.on('error', onError)
        response.on('close', () =>
          resolve({
            status: response.statusCode!,
            headers: response.headers,
            text: Buffer.concat(chunks).toString('utf8'),
            isCut: size > maxBytes,
          }),
        )
      },
    )
    sent.on('error', onError)
    sent.end(body)
  })
}

const timeoutError = (timeoutMs: number) => new RequestError('timeout', `did not respond within ${timeoutMs / 1000} s`)

function errorOf(error: NodeJS.ErrnoException, ca?: string): RequestError {
  const authority =
    ca === undefined ? 'its CA in NODE_EXTRA_CA_CERTS of the API and the workers' : 'the CA certificate of its issuer'
  const problem = certificateProblem(error, authority)
  if (problem) return new RequestError('certificate', problem)
  return new RequestError('unreachable', `cannot be reached (${error.code ?? error.message})`)
}
