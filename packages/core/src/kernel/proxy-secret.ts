import { createHash, timingSafeEqual } from 'node:crypto'
import fs from 'node:fs'
import type { IncomingHttpHeaders } from 'node:http'

/** Request header in which a reverse proxy sends the proxy secret. */
export const PROXY_SECRET_HEADER = 'x-muster-proxy-secret'

/**
 * Requests in which headers such as X-Forwarded-For are trusted; null: none.
 * @property secret only requests with this proxy secret; null: all requests, because only a trusted proxy reaches the port
 */
export type ProxyTrust = { secret: string | null } | null

/** @throws Error the file is unreadable, or too short to be a secret */
export function readProxySecret(file: string): string {
  let secret: string
  try {
    secret = fs.readFileSync(file, 'utf8').trim()
  } catch (error) {
    throw new Error(`PROXY_SECRET_FILE names ${file}, which cannot be read (${(error as NodeJS.ErrnoException).code}).`)
  }
  if (!/^[!-~]{16,200}$/.test(secret))
    throw new Error(`PROXY_SECRET_FILE names ${file}, which must contain 16 to 200 ASCII characters without spaces.`)
  return secret
}

/** Whether a request comes from a trusted proxy. Removes the secret from its headers. */
export function isFromProxy(headers: IncomingHttpHeaders, trust: ProxyTrust): boolean {
  const given = headers[PROXY_SECRET_HEADER]
  delete headers[PROXY_SECRET_HEADER]
  return trust !== null && (trust.secret === null || isSame(String(given), trust.secret))
}

/** Compares in a time that does not depend on the contents. */
function isSame(one: string, other: string): boolean {
  const hash = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(hash(one), hash(other))
}
