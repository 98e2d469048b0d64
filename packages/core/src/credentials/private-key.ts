import { createPublicKey } from 'node:crypto'
import ssh2 from 'ssh2'
import { InvalidInput } from '../kernel/errors.ts'

const SUPPORTED = ['ssh-ed25519', 'ssh-rsa', 'ecdsa-sha2-nistp256', 'ecdsa-sha2-nistp384', 'ecdsa-sha2-nistp521']
/** ssh-keygen uses 16 or 24 rounds; more than this limit would block the process for seconds. */
const MAX_ROUNDS = 256
// Shorter keys are not safe, current distributions reject them, and the shortest cannot sign with SHA-2.
const MIN_RSA_BITS = 2048
const CONVERT = 'convert it with `puttygen key.ppk -O private-openssh -o key`'

const BROKEN = 'cannot be read: it is cut off, changed or of a type that is not supported'

const invalid = (field: 'privateKey' | 'passphrase', message: string) => new InvalidInput([{ path: field, message }])

/** Returns what looks wrong with a text that is not a private key. */
function privateKeyError(text: string): string | null {
  if (/^PuTTY-User-Key-File/m.test(text)) return `is a PuTTY key; ${CONVERT}`
  if (/^(ssh-|ecdsa-|sk-)\S+ AAAA|BEGIN (SSH2 )?(RSA )?PUBLIC KEY/m.test(text))
    return 'is the public half; give the private key, the file without .pub'
  if (/BEGIN CERTIFICATE/.test(text)) return 'is a certificate; give the private key'
  if (/BEGIN DSA PRIVATE KEY/.test(text))
    return 'is a DSA key, which SSH servers no longer accept; make one with `ssh-keygen -t ed25519`'
  if (/BEGIN (ENCRYPTED )?PRIVATE KEY/.test(text))
    return 'is in PKCS#8 form; convert a copy to OpenSSH form with `ssh-keygen -p -f copy-of-key`'
  if (
    !/^-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----\n([A-Za-z-]+: [^\n]*\n)*[A-Za-z0-9+/=\s]*-----END [A-Z0-9 ]*PRIVATE KEY-----\n$/.test(
      text,
    )
  )
    return 'must be a private key, with its lines -----BEGIN … PRIVATE KEY----- and -----END … PRIVATE KEY-----'
  return null
}

/** Detects a key that parses but has wrong bytes: its halves then do not match. */
function signsWhatItVerifies(key: ssh2.ParsedKey): boolean {
  const data = Buffer.from('muster')
  try {
    const signature = key.sign(data) as unknown
    return Buffer.isBuffer(signature) && (key.verify(data, signature) as unknown) === true
  } catch {
    return false
  }
}

/** Number of bcrypt rounds to decrypt the key, all of them in this process; 0 when it is not in OpenSSH format. */
function bcryptRounds(text: string): number {
  const body = /BEGIN OPENSSH PRIVATE KEY-----([^-]*)-----END/.exec(text)?.[1]
  if (!body) return 0
  const bytes = Buffer.from(body, 'base64')
  // "openssh-key-v1\0", cipher, kdf and the kdf's options (salt, rounds); strings carry their length (PROTOCOL.key of OpenSSH).
  let at = 15
  const next = () => {
    const length = at + 4 <= bytes.length ? bytes.readUInt32BE(at) : 0
    const field = bytes.subarray(at + 4, at + 4 + length)
    at += 4 + length
    return field
  }
  next()
  const kdf = next().toString('latin1')
  const options = next()
  const salt = options.length >= 4 ? options.readUInt32BE(0) : 0
  return kdf === 'bcrypt' && options.length >= 8 + salt ? options.readUInt32BE(4 + salt) : 0
}

/**
 * Validates a private key that a user pasted or uploaded.
 * @returns the key with the line ends that ssh-add requires, and its public key in OpenSSH format
 * @throws InvalidInput at privateKey or passphrase
 */
export function checkPrivateKey(text: string, passphrase: string | undefined): { privateKey: string; publicKey: string } {
  // Pasting adds Windows line ends and spaces, and drops the final newline that OpenSSH requires.
  const privateKey = `${text.replace(/\r\n?/g, '\n').trim()}\n`
  const reason = privateKeyError(privateKey)
  if (reason) throw invalid('privateKey', reason)

  if (bcryptRounds(privateKey) > MAX_ROUNDS)
    throw invalid(
      'privateKey',
      `needs more than ${MAX_ROUNDS} bcrypt rounds to decrypt; set fewer with \`ssh-keygen -p -a 32 -f copy-of-key\``,
    )

  const bare = ssh2.utils.parseKey(privateKey)
  const isEncrypted = bare instanceof Error && /encrypted|passphrase/i.test(bare.message)
  if (isEncrypted && !passphrase) throw invalid('passphrase', 'this private key is encrypted: give its passphrase')
  if (!(bare instanceof Error) && passphrase)
    throw invalid('passphrase', 'this private key is not encrypted: leave the passphrase empty')

  const parsed = isEncrypted ? ssh2.utils.parseKey(privateKey, passphrase) : bare
  if (parsed instanceof Error)
    throw isEncrypted ? invalid('passphrase', 'is not the passphrase of this private key') : invalid('privateKey', BROKEN)
  if (!SUPPORTED.includes(parsed.type))
    throw invalid('privateKey', `is of the type ${parsed.type}, which is not supported; use one of ${SUPPORTED.join(', ')}`)
  if (!parsed.isPrivateKey()) throw invalid('privateKey', 'is the public half; give the private key, the file without .pub')
  if (!signsWhatItVerifies(parsed)) throw invalid('privateKey', BROKEN)
  const bits = createPublicKey(parsed.getPublicPEM()).asymmetricKeyDetails?.modulusLength
  if (bits !== undefined && bits < MIN_RSA_BITS)
    throw invalid('privateKey', `is an RSA key of ${bits} bits, which servers reject; make one with \`ssh-keygen -t ed25519\``)
  const comment = /^[\x20-\x7e]{1,100}$/.test(parsed.comment ?? '') ? ` ${parsed.comment}` : ''
  return { privateKey, publicKey: `${parsed.type} ${parsed.getPublicSSH().toString('base64')}${comment}` }
}
