import { createPublicKey, type KeyObject } from 'node:crypto'

/** A validated public key, parsed once and reusable for verification. */
export type PublicKey = { bytes: Uint8Array; base64: string; key: KeyObject }

export class InvalidKeyError extends Error {
  override name = 'InvalidKeyError'
}

/** Parses a public key. Throws InvalidKeyError unless it is base64 of 32 bytes that encode a canonical point of large order. */
export function publicKey(base64: string): PublicKey {
  const bytes = fromBase64(base64, 32)
  if (!bytes) throw new InvalidKeyError('A public key is 32 bytes in base64 (44 characters).')
  const reason = invalidPointReason(bytes)
  if (reason)
    throw new InvalidKeyError(
      `This public key ${reason}, so no valid key pair has it. Create a new key with \`muster-agent init\`.`,
    )
  const key = createPublicKey({ key: Buffer.concat([SPKI, bytes]), format: 'der', type: 'spki' })
  return { bytes, base64, key }
}

/** Decodes strict base64: standard alphabet, padded, no trailing bits. Undefined for anything else or another length. */
export function fromBase64(text: string, length: number): Uint8Array<ArrayBuffer> | undefined {
  if (text.length !== Math.ceil(length / 3) * 4) return
  const bytes = Buffer.from(text, 'base64')
  return bytes.length === length && bytes.toString('base64') === text ? bytes : undefined
}

const SPKI = Buffer.from('302a300506032b6570032100', 'hex')
const littleEndian = (hex: string) => Buffer.from(hex, 'hex')
const P = littleEndian('edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f')
/** y coordinates of the eight points of small order, without the sign bit. */
const SMALL_ORDER = [
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
].map(littleEndian)

/** Returns why these 32 bytes are not an acceptable point; undefined when they are. */
export function invalidPointReason(encoded: Uint8Array): string | undefined {
  const y = Buffer.from(encoded)
  y[31]! &= 0x7f
  if (!isBelow(y, P)) return 'is not canonically encoded'
  if (SMALL_ORDER.some((point) => point.equals(y))) return 'is of small order'
}

/** Compares two 32-byte little-endian numbers. Not constant-time: neither is secret. */
export function isBelow(a: Uint8Array, b: Uint8Array): boolean {
  for (let i = 31; i >= 0; i--) if (a[i] !== b[i]) return a[i]! < b[i]!
  return false
}
