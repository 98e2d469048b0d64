import { createHash, randomBytes } from 'node:crypto'

const PREFIX = 'mst_'
/** Number of a token's characters in lists: enough to identify it, too few to guess the rest. */
const SHOWN = 12

/** Creates a token of 256 random bits. Only its hash is stored. */
export function makeToken(): { token: string; prefix: string; hash: string } {
  const token = PREFIX + randomBytes(32).toString('base64url')
  return { token, prefix: token.slice(0, SHOWN), hash: hashToken(token) }
}

/** Plain SHA-256: a token of 256 random bits needs no slow hash. */
export const hashToken = (token: string): string => createHash('sha256').update(token).digest('hex')

/** Whether `text` has the form of a token; saves a query for other text. */
export const looksLikeToken = (text: string): boolean => /^mst_[A-Za-z0-9_-]{43}$/.test(text)
