import fs from 'node:fs'

/** What came of a request: an answer to read, or a failure that a later try may mend. */
export type Reply = { status: number; body: Record<string, unknown>; retryAfter: number | null } | { failure: string }

export type Api = (path: string, body: Uint8Array<ArrayBuffer> | string, headers?: Record<string, string>) => Promise<Reply>

const PATIENCE = 20_000
const ANSWER_LIMIT = 64 * 1024

/** Posts JSON over one kept connection. Redirects are not followed: what is sent is meant for this address alone. */
export function api(apiUrl: string, caFile: string | undefined, version: string, stop: AbortSignal): Api {
  // Bun and Node are told of a private authority in different ways.
  const ca = caFile === undefined ? undefined : fs.readFileSync(caFile, 'utf8')
  if (ca && !process.versions.bun) {
    const tls = process.getBuiltinModule('node:tls')
    tls.setDefaultCACertificates([...tls.getCACertificates('default'), ca])
  }
  const trust = ca && process.versions.bun ? { tls: { ca } } : {}
  return async (path, body, headers = {}) => {
    try {
      const response = await fetch(apiUrl + path, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'user-agent': `muster-agent/${version}`, ...headers },
        body,
        redirect: 'manual',
        signal: AbortSignal.any([AbortSignal.timeout(PATIENCE), stop]),
        ...trust,
      })
      const said = (await response.text()).slice(0, ANSWER_LIMIT)
      return { status: response.status, body: read(said), retryAfter: seconds(response.headers.get('retry-after')) }
    } catch (error) {
      return { failure: reason(error) }
    }
  }
}

function read(text: string): Record<string, unknown> {
  try {
    const value = JSON.parse(text)
    return value !== null && typeof value === 'object' ? value : {}
  } catch {
    return {}
  }
}

/** Seconds or a date. */
function seconds(header: string | null): number | null {
  if (!header) return null
  const found = /^\d+$/.test(header) ? Number(header) : (Date.parse(header) - Date.now()) / 1000
  return Number.isFinite(found) ? Math.min(Math.max(found, 1), 3600) : null
}

function reason(error: unknown): string {
  const { message, cause } = error as { message: string; cause?: { message?: string; code?: string } }
  return [message, cause?.message || cause?.code].filter(Boolean).join(': ')
}
