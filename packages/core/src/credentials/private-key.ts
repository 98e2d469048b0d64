import ssh2 from 'ssh2'
import { InvalidInput } from '../errors.ts'

const SUPPORTED = ['ssh-ed25519', 'ssh-rsa', 'ecdsa-sha2-nistp256', 'ecdsa-sha2-nistp384', 'ecdsa-sha2-nistp521']
const CONVERT = 'convert it with `puttygen key.ppk -O private-openssh -o key`'

const refuse = (field: 'privateKey' | 'passphrase', message: string) => new InvalidInput([{ path: field, message }])

/** What is wrong with a text that is no private key at all, as far as it can be told from its looks. */
function whyNotPrivateKey(text: string): string | null {
  if (/^PuTTY-User-Key-File/m.test(text)) return `is a PuTTY key; ${CONVERT}`
  if (/^(ssh-|ecdsa-|sk-)\S+ AAAA|BEGIN (SSH2 )?(RSA )?PUBLIC KEY/m.test(text))
    return 'is the public half; give the private key, the file without .pub'
  if (/BEGIN CERTIFICATE/.test(text)) return 'is a certificate; give the private key'
  if (/BEGIN DSA PRIVATE KEY/.test(text))
    return 'is a DSA key, which SSH servers no longer accept; make one with `ssh-keygen -t ed25519`'
  if (!/^-----BEGIN [A-Z0-9 ]*PRIVATE KEY-----/m.test(text))
    return 'must be a private key, with its lines -----BEGIN … PRIVATE KEY----- and -----END … PRIVATE KEY-----'
  return null
}

/**
 * Check a private key as it was pasted or read from a file.
 * @returns the key with line ends as ssh-add wants them, and its public half in OpenSSH form
 * @throws InvalidInput at privateKey or passphrase
 */
export function checkPrivateKey(text: string, passphrase: string | undefined): { privateKey: string; publicKey: string } {
  // Pasting brings Windows line ends and spaces, and loses the final newline without which OpenSSH refuses the key.
  const privateKey = `${text.replace(/\r\n?/g, '\n').trim()}\n`
  const reason = whyNotPrivateKey(privateKey)
  if (reason) throw refuse('privateKey', reason)

  const bare = ssh2.utils.parseKey(privateKey)
  const isEncrypted = bare instanceof Error && /encrypted|passphrase/i.test(bare.message)
  if (isEncrypted && !passphrase) throw refuse('passphrase', 'this private key is encrypted: give its passphrase')
  if (!(bare instanceof Error) && passphrase)
    throw refuse('passphrase', 'this private key is not encrypted: leave the passphrase empty')

  const parsed = isEncrypted ? ssh2.utils.parseKey(privateKey, passphrase) : bare
  if (parsed instanceof Error) {
    if (isEncrypted) throw refuse('passphrase', 'does not open this private key')
    throw refuse('privateKey', 'cannot be read: it is cut off, changed or of a type that is not supported')
  }
  if (!SUPPORTED.includes(parsed.type))
    throw refuse('privateKey', `is of the type ${parsed.type}, which is not supported; use one of ${SUPPORTED.join(', ')}`)
  if (!parsed.isPrivateKey()) throw refuse('privateKey', 'is the public half; give the private key, the file without .pub')
  const comment = /^[\x20-\x7e]{1,100}$/.test(parsed.comment ?? '') ? ` ${parsed.comment}` : ''
  return { privateKey, publicKey: `${parsed.type} ${parsed.getPublicSSH().toString('base64')}${comment}` }
}
