import { createPublicKey, type KeyObject } from 'node:crypto'

/** A key that was looked at once and can verify many times. */
export type PublicKey = { bytes: Uint8Array; base64: string; key: KeyObject }

export class RefusedKey extends Error {
  override name = 'RefusedKey'
}

/** Throws RefusedKey for what is not base64 of 32 bytes, not canonical, of small order, or no point of the curve. */
export function publicKey(base64: string): PublicKey {
  const bytes = fromBase64(base64, 32)
  if (!bytes) throw new RefusedKey('A public key is 32 bytes in base64, 44 signs.')
  const why = whyNotPoint(bytes)
  if (why) throw new RefusedKey(`This public key ${why}; no key pair has such a one. Make a new key with \`muster-agent init\`.`)
  const key = createPublicKey({ key: Buffer.concat([SPKI, bytes]), format: 'der', type: 'spki' })
  return { bytes, base64, key }
}

/** Strict: standard alphabet, padded, no bits left over; undefined for anything else, or another length. */
export function fromBase64(text: string, length: number): Uint8Array<ArrayBuffer> | undefined {
  if (text.length !== Math.ceil(length / 3) * 4) return
  const bytes = Buffer.from(text, 'base64')
  return bytes.length === length && bytes.toString('base64') === text ? bytes : undefined
}

const SPKI = Buffer.from('302a300506032b6570032100', 'hex')
const littleEndian = (hex: string) => Buffer.from(hex, 'hex')
const P = littleEndian('edffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f')
/** y of the eight points of small order; the sign bit does not matter. */
const SMALL_ORDER = [
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
].map(littleEndian)

/** Why no honest key or signature has these 32 bytes as a point. */
export function whyNotPoint(encoded: Uint8Array): string | undefined {
  const y = Buffer.from(encoded)
  y[31]! &= 0x7f
  if (!isBelow(y, P)) return 'is not canonical'
  if (SMALL_ORDER.some((each) => each.equals(y))) return 'is of small order'
}

/** Both are 32 bytes, little-endian. Neither is secret. */
export function isBelow(a: Uint8Array, b: Uint8Array): boolean {
  for (let i = 31; i >= 0; i--) if (a[i] !== b[i]) return a[i]! < b[i]!
  return false
}
