import { createHash, randomBytes } from 'node:crypto'

const PREFIX = 'mst_'
/** Length of the token prefix that lists show: enough to identify a token, too short to guess the rest. */
const PREFIX_LENGTH = 12

/** Creates a token of 256 random bits. Only its hash is stored. */
export function makeToken(): { token: string; prefix: string; hash: string } {
  const token = PREFIX + randomBytes(32).toString('base64url')
  return { token, prefix: token.slice(0, PREFIX_LENGTH), hash: hashToken(token) }
}

/** Plain SHA-256: a token of 256 random bits needs no slow hash. */
export const hashToken = (token: string): string => createHash('sha256').update(token).digest('hex')

/** Whether `text` has the form of a token; saves a query for other text. */
export const looksLikeToken = (text: string): boolean => /^mst_[A-Za-z0-9_-]{43}$/.test(text)
