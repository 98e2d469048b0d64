import { createHash, randomBytes } from 'node:crypto'

const PREFIX = 'mst_'
/** Characters of a token that lists show: enough to tell tokens apart, far too few to guess the rest. */
const SHOWN = 12

/** A new token: 256 random bits. Only its hash is kept. */
export function makeToken(): { token: string; prefix: string; hash: string } {
  const token = PREFIX + randomBytes(32).toString('base64url')
  return { token, prefix: token.slice(0, SHOWN), hash: hashToken(token) }
}

/** A plain SHA-256 serves: what has 256 random bits needs no slow hash. */
export const hashToken = (token: string): string => createHash('sha256').update(token).digest('hex')

/** Whether `text` has the form of a token; spares the database what cannot be one. */
export const looksLikeToken = (text: string): boolean => /^mst_[A-Za-z0-9_-]{43}$/.test(text)
