import { request as overHttp } from 'node:http'
import { request as overHttps } from 'node:https'
import { resolveTarget } from '@muster/core/alerts'
import { DeliveryError } from './delivery-error.ts'

export type PostRequest = { url: URL; headers: Record<string, string>; body: string }
export type PostResponse = { status: number; retryAfterMs: number | undefined; text: string }
export type Limits = { allowLocal: boolean; timeoutMs: number; signal: AbortSignal }

const MAX_RESPONSE_BYTES = 64 * 1024

/**
 * Sends a webhook request. Redirects are not followed: a message goes only to the URL that an admin set.
 * @throws DeliveryError when there is no response
 */
export async function post(
  { url, headers, body }: PostRequest,
  { allowLocal, timeoutMs, signal }: Limits,
): Promise<PostResponse> {
  const found = await resolveTarget(url.hostname, allowLocal)
  const request = url.protocol === 'https:' ? overHttps : overHttp
  return new Promise((resolve, reject) => {
    const onError = (error: NodeJS.ErrnoException) => reject(new DeliveryError(noResponseReason(url, error, timeoutMs)))
    const sent = request(
      url,
      {
        method: 'POST',
        headers: { ...headers, 'content-length': String(Buffer.byteLength(body)) },
        lookup: (_name, _options, done) => done(null, found),
        signal: AbortSignal.any([signal, AbortSignal.timeout(timeoutMs)]),
        agent: false,
      },
      (response) => {
        const chunks: Buffer[] = []
        let size = 0
        response.on('data', (chunk: Buffer) => {
          size += chunk.length
          if (size <= MAX_RESPONSE_BYTES) chunks.push(chunk)
          else response.destroy()
        })
        response.on('error', onError)
        response.on('close', () =>
          resolve({
            status: response.statusCode!,
            retryAfterMs: retryAfterMs(response.headers['retry-after']),
            text: Buffer.concat(chunks).toString('utf8'),
          }),
        )
      },
    )
    sent.on('error', onError)
    sent.end(body)
  })
}

/** Parses a Retry-After header: seconds or a date. */
function retryAfterMs(header: string | undefined): number | undefined {
  if (!header) return undefined
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now()
  return ms > 0 ? ms : undefined
}

function noResponseReason(url: URL, error: NodeJS.ErrnoException, timeoutMs: number): string {
  const cause = error.cause as Error | undefined
  if (cause?.name === 'TimeoutError') return `${url.origin} did not respond within ${timeoutMs / 1000} s.`
  if (error.name === 'AbortError') return cause?.message ?? error.message
  if (/CERT|ALTNAME|SIGNATURE/.test(error.code ?? ''))
    return `${url.origin} presents an untrusted certificate (${error.code}); set its CA in NODE_EXTRA_CA_CERTS of the worker.`
  return `${url.origin} cannot be reached (${error.code ?? error.message}).`
}
