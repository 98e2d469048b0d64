import { createHash, randomBytes } from 'node:crypto'

/** Prefix of each kind of secret. */
const PREFIXES = { apiToken: 'mst_', invitation: 'msi_', emailChange: 'mse_' } as const
/** Length of the token prefix that lists show: enough to identify a token, too short to guess the rest. */
const PREFIX_LENGTH = 12

/** Creates a token of 256 random bits. Only its hash is stored. */
export function makeToken(kind: keyof typeof PREFIXES = 'apiToken'): { token: string; prefix: string; hash: string } {
  const token = PREFIXES[kind] + randomBytes(32).toString('base64url')
  return { token, prefix: token.slice(0, PREFIX_LENGTH), hash: hashToken(token) }
}

/** Plain SHA-256: a token of 256 random bits needs no slow hash. */
export const hashToken = (token: string): string => createHash('sha256').update(token).digest('hex')

/** Whether `text` has the form of a token; saves a query for other text. */
export const looksLikeToken = (text: string): boolean => /^mst_[A-Za-z0-9_-]{43}$/.test(text)
