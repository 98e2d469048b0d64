import { createHmac } from 'node:crypto'
import type { PostRequest } from './post.ts'

export const hmac = (key: string, text: string) => createHmac('sha256', key).update(text)

export const jsonRequest = (url: URL, body: unknown, headers: Record<string, string> = {}): PostRequest => ({
  url,
  headers: { 'content-type': 'application/json; charset=utf-8', 'user-agent': 'Muster', ...headers },
  body: JSON.stringify(body),
})

type Signing = { id: string; secret: string; now: Date }

/** A request in Muster's own format: with an ID that is the same for all attempts, and a signature over time and body. */
export function signedJson(
  url: URL,
  body: unknown,
  { id, secret, now }: Signing,
  headers: Record<string, string> = {},
): PostRequest {
  const request = jsonRequest(url, body, headers)
  const timestamp = String(Math.floor(now.getTime() / 1000))
  return {
    ...request,
    headers: {
      ...request.headers,
      'x-muster-delivery': id,
      'x-muster-timestamp': timestamp,
      'x-muster-signature': `sha256=${hmac(secret, `${timestamp}.${request.body}`).digest('hex')}`,
    },
  }
}
