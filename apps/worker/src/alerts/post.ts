import { request as overHttp } from 'node:http'
import { request as overHttps } from 'node:https'
import { NotSent } from './failure.ts'
import { addressesOf } from './reach.ts'

export type Post = { url: URL; headers: Record<string, string>; body: string }
export type Answer = { status: number; retryAfterMs: number | undefined; text: string }
export type Limits = { allowLocal: boolean; timeoutMs: number; signal: AbortSignal }

const MOST_READ = 64 * 1024

/**
 * Send a hook's request. Redirects are not followed: a message goes to the address that an admin gave, and nowhere else.
 * @throws NotSent when there is no answer
 */
export async function post({ url, headers, body }: Post, { allowLocal, timeoutMs, signal }: Limits): Promise<Answer> {
  const found = await addressesOf(url.hostname, allowLocal)
  const request = url.protocol === 'https:' ? overHttps : overHttp
  return new Promise((resolve, reject) => {
    const refuse = (error: NodeJS.ErrnoException) => reject(new NotSent(whyNoAnswer(url, error, timeoutMs)))
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
          if (size <= MOST_READ) chunks.push(chunk)
          else response.destroy()
        })
        response.on('error', refuse)
        response.on('close', () =>
          resolve({
            status: response.statusCode!,
            retryAfterMs: retryAfterMs(response.headers['retry-after']),
            text: Buffer.concat(chunks).toString('utf8'),
          }),
        )
      },
    )
    sent.on('error', refuse)
    sent.end(body)
  })
}

/** Seconds or a date. */
function retryAfterMs(header: string | undefined): number | undefined {
  if (!header) return undefined
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : Date.parse(header) - Date.now()
  return ms > 0 ? ms : undefined
}

function whyNoAnswer(url: URL, error: NodeJS.ErrnoException, timeoutMs: number): string {
  const cause = error.cause as Error | undefined
  if (cause?.name === 'TimeoutError') return `${url.origin} did not answer within ${timeoutMs / 1000} s.`
  if (error.name === 'AbortError') return cause?.message ?? error.message
  if (/CERT|ALTNAME|SIGNATURE/.test(error.code ?? ''))
    return `${url.origin} shows a certificate that is not trusted (${error.code}); give the worker its authority in NODE_EXTRA_CA_CERTS.`
  return `${url.origin} cannot be reached (${error.code ?? error.message}).`
}
