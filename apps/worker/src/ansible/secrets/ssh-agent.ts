import { createPrivateKey, sign } from 'node:crypto'
import type { Socket } from 'node:net'
import type { ParsedKey } from 'ssh2'

// Message numbers and flags of the ssh-agent protocol (draft-ietf-sshm-ssh-agent).
const FAILURE = 5
const REQUEST_IDENTITIES = 11
const IDENTITIES_ANSWER = 12
const SIGN_REQUEST = 13
const SIGN_RESPONSE = 14
const RSA_SHA2_256 = 2
const RSA_SHA2_512 = 4
const MAX_MESSAGE_BYTES = 256 * 1024

/**
 * Serves the ssh-agent protocol: lists the keys and signs with them, and rejects other requests. Handwritten, because the server
 * side of ssh2 loses message boundaries at the `session-bind` extension that OpenSSH >= 8.9 sends first.
 */
export function serveSshAgent(socket: Socket, keys: ParsedKey[]): void {
  let received = Buffer.alloc(0)
  socket.on('data', (chunk) => {
    received = Buffer.concat([received, chunk])
    while (received.length >= 4) {
      const length = received.readUInt32BE(0)
      if (length > MAX_MESSAGE_BYTES) return socket.destroy()
      if (received.length < 4 + length) return
      const message = received.subarray(4, 4 + length)
      received = received.subarray(4 + length)
      socket.write(string(reply(message, keys)))
    }
  })
}

function reply(message: Buffer, keys: ParsedKey[]): Buffer {
  try {
    if (message[0] === REQUEST_IDENTITIES) {
      const list = keys.flatMap((key) => [string(key.getPublicSSH()), string(Buffer.from(key.comment ?? ''))])
      return Buffer.concat([Buffer.from([IDENTITIES_ANSWER]), uint32(keys.length), ...list])
    }
    if (message[0] === SIGN_REQUEST) {
      const [blob, afterBlob] = readString(message, 1)
      const [data, afterData] = readString(message, afterBlob)
      const key = keys.find((candidate) => candidate.getPublicSSH().equals(blob))
      if (key) return Buffer.concat([Buffer.from([SIGN_RESPONSE]), string(signature(key, data, message.readUInt32BE(afterData)))])
    }
  } catch {
    // A truncated message, or a key that cannot sign this data: the client gets FAILURE and may go on.
  }
  return Buffer.from([FAILURE])
}

/** `string format, string signature`; for ECDSA the signature is two mpints (RFC 5656). */
function signature(key: ParsedKey, data: Buffer, flags: number): Buffer {
  if (key.type === 'ssh-rsa') {
    const hash = flags & RSA_SHA2_512 ? 'sha512' : flags & RSA_SHA2_256 ? 'sha256' : 'sha1'
    const format = hash === 'sha1' ? 'ssh-rsa' : `rsa-sha2-${hash.slice(3)}`
    return Buffer.concat([string(Buffer.from(format)), string(Buffer.from(key.sign(data, hash)))])
  }
  const curve = /^ecdsa-sha2-nistp(256|384|521)$/.exec(key.type)?.[1]
  if (!curve) return Buffer.concat([string(Buffer.from(key.type)), string(Buffer.from(key.sign(data)))])
  const hash = { 256: 'sha256', 384: 'sha384', 521: 'sha512' }[curve]
  const pair = sign(hash, data, { key: createPrivateKey(key.getPrivatePEM()), dsaEncoding: 'ieee-p1363' })
  const numbers = [pair.subarray(0, pair.length / 2), pair.subarray(pair.length / 2)].map(mpint)
  return Buffer.concat([string(Buffer.from(key.type)), string(Buffer.concat(numbers))])
}

function mpint(number: Buffer): Buffer {
  let start = 0
  while (start < number.length - 1 && number[start] === 0) start++
  const bytes = number.subarray(start)
  return string(bytes[0]! >= 0x80 ? Buffer.concat([Buffer.from([0]), bytes]) : bytes)
}

function uint32(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32BE(value)
  return bytes
}

const string = (bytes: Buffer): Buffer => Buffer.concat([uint32(bytes.length), bytes])

function readString(from: Buffer, at: number): [Buffer, number] {
  const end = at + 4 + from.readUInt32BE(at)
  if (end > from.length) throw new RangeError('truncated message')
  return [from.subarray(at + 4, end), end]
}
