const YEAR_SECONDS = 31_536_000

/**
 * Security headers of every response. The console's pages have a content security policy of their own, with a nonce.
 * @param publicUrl address in browsers; HSTS is sent behind HTTPS only, and not for localhost, which other programs use without TLS
 */
export function responseHeaders(publicUrl: string | undefined): Record<string, string> {
  const { protocol, hostname } = URL.parse(publicUrl ?? '') ?? {}
  const hsts = protocol === 'https:' && hostname !== 'localhost'
  return {
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'same-origin',
    'permissions-policy': 'camera=(), geolocation=(), microphone=(), payment=(), usb=()',
    'cross-origin-opener-policy': 'same-origin',
    ...(hsts ? { 'strict-transport-security': `max-age=${YEAR_SECONDS}` } : {}),
  }
}

/** Responses of the API are data and downloads: no page of them may load or run anything. */
export const API_POLICY = "default-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'none'; sandbox"
