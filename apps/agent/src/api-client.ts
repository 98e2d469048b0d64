import fs from 'node:fs'

/** An HTTP response, or the reason why there is none. */
export type ApiResult = { status: number; body: Record<string, unknown>; retryAfterSeconds: number | null } | { failure: string }

export type ApiClient = (
  path: string,
  body: Uint8Array<ArrayBuffer> | string,
  headers?: Record<string, string>,
) => Promise<ApiResult>

const TIMEOUT_MS = 20_000
const RESPONSE_LIMIT = 64 * 1024

/** Posts JSON over a keep-alive connection. Redirects are not followed, so requests reach the configured address only. */
export function createApiClient(apiUrl: string, caFile: string | undefined, version: string, stop: AbortSignal): ApiClient {
  // Bun and Node configure a private CA differently.
  const ca = caFile === undefined ? undefined : fs.readFileSync(caFile, 'utf8')
  if (ca && !process.versions.bun) {
    const tls = process.getBuiltinModule('node:tls')
    tls.setDefaultCACertificates([...tls.getCACertificates('default'), ca])
  }
  const tlsOptions = ca && process.versions.bun ? { tls: { ca } } : {}
  return async (path, body, headers = {}) => {
    try {
      const response = await fetch(apiUrl + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'user-agent': `muster-agent/${version}`, ...headers },
        body,
        redirect: 'manual',
        signal: AbortSignal.any([AbortSignal.timeout(TIMEOUT_MS), stop]),
        ...tlsOptions,
      })
      const text = await readText(response)
      return {
        status: response.status,
        body: parseObject(text),
        retryAfterSeconds: parseRetryAfter(response.headers.get('retry-after')),
      }
    } catch (error) {
      return { failure: failureMessage(error) }
    }
  }
}

/** Reads at most RESPONSE_LIMIT bytes; the rest is not received. */
async function readText({ body }: Response): Promise<string> {
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body ?? []) {
    chunks.push(chunk)
    size += chunk.length
    if (size >= RESPONSE_LIMIT) break
  }
  return Buffer.concat(chunks).toString('utf8', 0, RESPONSE_LIMIT)
}

function parseObject(text: string): Record<string, unknown> {
  try {
    const value = JSON.parse(text)
    return value !== null && typeof value === 'object' ? value : {}
  } catch {
    return {}
  }
}

/** Parses seconds or an HTTP date. */
function parseRetryAfter(header: string | null): number | null {
  if (!header) return null
  const seconds = /^\d+$/.test(header) ? Number(header) : (Date.parse(header) - Date.now()) / 1000
  return Number.isFinite(seconds) ? Math.min(Math.max(seconds, 1), 3600) : null
}

function failureMessage(error: unknown): string {
  const { message, cause } = error as { message: string; cause?: { message?: string; code?: string } }
  return [message, cause?.message || cause?.code].filter(Boolean).join(': ')
}
