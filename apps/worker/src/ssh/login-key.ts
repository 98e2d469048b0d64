import { createHash, createPrivateKey, sign } from 'node:crypto'
import ssh2, { type ParsedKey } from 'ssh2'

const CACHED = 256
const cache = new Map<string, ParsedKey>()

/**
 * A private key ready for signing. Kept in memory by its digest: taking the passphrase off a key costs a good part of a
 * second of CPU, and reading the PEM anew at every signature doubles the signature's cost.
 * @param privateKey OpenSSH or PEM text
 * @throws Error in ssh2's words when it cannot be read
 */
export function loginKey(privateKey: string, passphrase = ''): ParsedKey {
  const digest = createHash('sha256').update(passphrase).update('\0').update(privateKey).digest('base64')
  const known = cache.get(digest)
  if (known) return known
  const parsed = ssh2.utils.parseKey(privateKey, passphrase)
  if (parsed instanceof Error) throw parsed
  const pem = createPrivateKey(parsed.getPrivatePEM())
  // The hash that ssh2 would take where the caller names none; Ed25519 has none.
  const usual = { 'ecdsa-sha2-nistp256': 'sha256', 'ecdsa-sha2-nistp384': 'sha384', 'ecdsa-sha2-nistp521': 'sha512' }[
    parsed.type as string
  ]
  const key: ParsedKey = Object.create(parsed, {
    sign: { value: (data: Buffer, hash?: string) => sign(hash ?? usual, data, pem) },
  })
  if (cache.size >= CACHED) cache.delete(cache.keys().next().value!)
  cache.set(digest, key)
  return key
}
