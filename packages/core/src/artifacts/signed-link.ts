import { createHmac, hkdfSync, timingSafeEqual } from 'node:crypto'

/** The secret that signs links. It is derived, so that it signs nothing else. */
export const deriveLinkSecret = (authSecret: string): string =>
  Buffer.from(hkdfSync('sha256', authSecret, 'muster', 'artifact links 1', 32)).toString('base64url')

/** Signs a link to `id` that is valid until `expires` (ms since 1970). */
export const signLink = (secret: string, id: string, expires: number): string =>
  createHmac('sha256', secret).update(`artifact ${id} ${expires}`).digest('base64url')

/** Whether the signature is valid for this artifact and has not expired. */
export function isValidLink(secret: string, id: string, expires: number, signature: string): boolean {
  const [good, given] = [signLink(secret, id, expires), signature].map((text) => Buffer.from(text))
  return expires > Date.now() && good!.length === given!.length && timingSafeEqual(good!, given!)
}
