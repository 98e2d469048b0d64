import ssh2 from 'ssh2'

const FORM =
  /^(ssh-ed25519|ssh-rsa|ecdsa-sha2-nistp(?:256|384|521)|sk-ssh-ed25519@openssh\.com|sk-ecdsa-sha2-nistp256@openssh\.com) ([A-Za-z0-9+/]+={0,2})(?: [^\n]*)?$/

/** Why `line` is not a public key as in a .pub file; null when it is. */
export function sshKeyError(line: string): string | null {
  const [, type, body] = FORM.exec(line) ?? []
  if (!type || !body) return 'must be a public key, such as `ssh-ed25519 AAAA… name`, without options'
  const bytes = Buffer.from(body, 'base64')
  const length = bytes.length >= 4 ? bytes.readUInt32BE(0) : 0
  if (bytes.subarray(4, 4 + length).toString('latin1') !== type) return `is not a complete key of the type ${type}`
  // ssh2 does not know the types of security keys.
  if (!type.startsWith('sk-') && ssh2.utils.parseKey(line) instanceof Error) return `is not a complete key of the type ${type}`
  return null
}

/** Type and key without the comment: the same key has one identity. */
export const sshKeyIdentity = (line: string): string => line.split(' ', 2).join(' ')
