import { type LocalTarget, sendRequest } from '@muster/core/outbound'
import type { CustomFetch } from 'openid-client'

const LIMITS = { timeoutMs: 10_000, maxBytes: 1024 * 1024 }

/** How openid-client sends its requests: only to checked addresses, without redirects, with limits of time and size. */
export const createProviderRequest =
  (localTargets: readonly LocalTarget[]): CustomFetch =>
  async (url, { method, headers, body, signal }) => {
    const request = { url: new URL(url), method, headers, ...(body ? { body: String(body) } : {}) }
    const answer = await sendRequest(request, { ...LIMITS, localTargets, ...(signal ? { signal } : {}) })
    if (answer.isCut) throw new Error('the response is too large')
    const responseHeaders = Object.entries(answer.headers).map(([name, value]): [string, string] => [name, String(value)])
    return new Response(answer.text || null, { status: answer.status, headers: responseHeaders })
  }
