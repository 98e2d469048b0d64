import { createHmac, timingSafeEqual } from 'node:crypto'

/** Cookie names start with `__Host-` behind HTTPS: browsers then accept them only from this host, over HTTPS, for every path. */
export const cookiePrefix = (publicUrl: string): string => (publicUrl.startsWith('https://') ? '__Host-muster' : 'muster')

/** Name of better-auth's session cookie. */
export const sessionCookieName = (publicUrl: string): string => `${cookiePrefix(publicUrl)}.session_token`

const signatureOf = (value: string, secret: string) => createHmac('sha256', secret).update(value).digest('base64')

/** The value of a cookie that better-auth signs: the text and its HMAC-SHA256, percent-encoded. */
export const signCookie = (value: string, secret: string): string => encodeURIComponent(`${value}.${signatureOf(value, secret)}`)

/** The text in a signed cookie; null when the signature is wrong. */
export function openCookie(cookie: string, secret: string): string | null {
  let decoded: string
  try {
    decoded = decodeURIComponent(cookie)
  } catch {
    return null
  }
  const end = decoded.lastIndexOf('.')
  if (end < 1) return null
  const value = decoded.slice(0, end)
  const [given, expected] = [Buffer.from(decoded.slice(end + 1)), Buffer.from(signatureOf(value, secret))]
  return given.length === expected.length && timingSafeEqual(given, expected) ? value : null
}

/** The value of the cookie `name` of a request; null without one. */
export function readCookie(headers: Headers, name: string): string | null {
  for (const part of (headers.get('cookie') ?? '').split(';')) {
    const [key, ...value] = part.split('=')
    if (key?.trim() === name) return value.join('=').trim()
  }
  return null
}
