import { type NextRequest, NextResponse } from 'next/server'

const isDevelopment = process.env.NODE_ENV === 'development'

/**
 * Sets the content security policy of a page, with a nonce for Next's inline scripts. Next reads the nonce from the request's header.
 * Styles have no inline exception: React sets styles of elements through the CSSOM, which the policy allows. `next dev` needs eval and
 * inline styles.
 */
export function proxy(request: NextRequest): NextResponse {
  const nonce = crypto.getRandomValues(Buffer.alloc(16)).toString('base64')
  const policy = [
    "default-src 'self'",
    `script-src 'self' 'nonce-${nonce}'${isDevelopment ? " 'unsafe-eval'" : ''}`,
    `style-src 'self'${isDevelopment ? " 'unsafe-inline'" : ''}`,
    "img-src 'self' data:",
    "object-src 'none'",
    "frame-src 'none'",
    "frame-ancestors 'none'",
    "base-uri 'none'",
    "form-action 'self'",
  ].join('; ')
  const headers = new Headers(request.headers)
  headers.set('content-security-policy', policy)
  const response = NextResponse.next({ request: { headers } })
  response.headers.set('content-security-policy', policy)
  return response
}

export const config = { matcher: ['/((?!_next/static/|first-paint\\.js$|icon\\.svg$).*)'] }
