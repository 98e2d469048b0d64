import { isSameSecret, readSharedSecret } from './shared-secret.ts'

/** Request header in which a reverse proxy sends the proxy secret. */
export const PROXY_SECRET_HEADER = 'x-muster-proxy-secret'

/**
 * Requests in which headers such as X-Forwarded-For are trusted; null: none.
 * @property secret only requests with this proxy secret; null: all requests, because only a trusted proxy reaches the port
 */
export type ProxyTrust = { secret: string | null } | null

/** @throws Error the file is unreadable, or too short to be a secret */
export const readProxySecret = (file: string): string => readSharedSecret('PROXY_SECRET_FILE', file)

/** Whether a request comes from a trusted proxy. Removes the secret from its headers. */
export function isFromProxy(headers: NodeJS.Dict<string | string[]>, trust: ProxyTrust): boolean {
  const given = headers[PROXY_SECRET_HEADER]
  delete headers[PROXY_SECRET_HEADER]
  return trust !== null && (trust.secret === null || isSameSecret(String(given), trust.secret))
}
