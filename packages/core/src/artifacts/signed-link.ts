import { createHmac, timingSafeEqual } from 'node:crypto'

/** Sign that `id` may be had until `expires` (ms since 1970) by whoever shows the signature. */
export const signLink = (secret: string, id: string, expires: number): string =>
  createHmac('sha256', secret).update(`artifact ${id} ${expires}`).digest('base64url')

/** Whether the signature is ours, for this artifact, and not too old. */
export function linkIsGood(secret: string, id: string, expires: number, signature: string): boolean {
  const [good, given] = [signLink(secret, id, expires), signature].map((text) => Buffer.from(text))
  return expires > Date.now() && good!.length === given!.length && timingSafeEqual(good!, given!)
}
