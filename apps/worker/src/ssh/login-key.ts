import { createHash, createPrivateKey, sign } from 'node:crypto'
import ssh2, { type ParsedKey } from 'ssh2'

const CACHED = 256
const cache = new Map<string, ParsedKey>()

/**
 * Parses a private key for signing. Cached in memory by digest: decrypting a key with its passphrase takes most of a second of CPU,
 * and parsing the PEM for every signature doubles its cost.
 * @param privateKey OpenSSH or PEM text
 * @throws Error with ssh2's message when it cannot be parsed
 */
export function loginKey(privateKey: string, passphrase = ''): ParsedKey {
  const digest = createHash('sha256').update(passphrase).update('\0').update(privateKey).digest('base64')
  const known = cache.get(digest)
  if (known) return known
  const parsed = ssh2.utils.parseKey(privateKey, passphrase)
  if (parsed instanceof Error) throw parsed
  const pem = createPrivateKey(parsed.getPrivatePEM())
  // ssh2's default hash when the caller passes none; Ed25519 has none.
  const defaultHash = { 'ecdsa-sha2-nistp256': 'sha256', 'ecdsa-sha2-nistp384': 'sha384', 'ecdsa-sha2-nistp521': 'sha512' }[
    parsed.type as string
  ]
  const key: ParsedKey = Object.create(parsed, {
    sign: { value: (data: Buffer, hash?: string) => sign(hash ?? defaultHash, data, pem) },
  })
  if (cache.size >= CACHED) cache.delete(cache.keys().next().value!)
  cache.set(digest, key)
  return key
}
