import { createPublicKey, verify as ed25519, type KeyObject } from 'node:crypto'

/**
 * One accept set, so that whoever checks a signature, in whatever way and with whatever library, comes to the same answer:
 * a signature R||S of message M under key A counts when
 *   1. A and R are canonical encodings (y < p) of points that are not of small order,
 *   2. S < L, and
 *   3. [S]B = R + [SHA-512(R||A||M)]A, without multiplying by the cofactor.
 * OpenSSL and BoringSSL check 3 and S < L, and compare R as bytes. OpenSSL 3.5 refuses points of small order, BoringSSL (Bun) does not:
 * under such a key one signature holds for many messages. Neither promises to go on as it does, so 1 and 2 are checked here in any case.
 */
export function verify(message: Uint8Array, signature: string, { key }: PublicKey): boolean {
  const bytes = fromBase64(signature, 64)
  if (!bytes || whyNotPoint(bytes.subarray(0, 32)) || !isBelow(bytes.subarray(32), L)) return false
  return ed25519(null, message, key, bytes)
}

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
const L = littleEndian('edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010')
/** y of the eight points of small order; the sign bit does not matter. */
const SMALL_ORDER = [
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
].map(littleEndian)

function whyNotPoint(encoded: Uint8Array): string | undefined {
  const y = Buffer.from(encoded)
  y[31]! &= 0x7f
  if (!isBelow(y, P)) return 'is not canonical'
  if (SMALL_ORDER.some((each) => each.equals(y))) return 'is of small order'
}

/** Both are 32 bytes, little-endian. Neither is secret. */
function isBelow(a: Uint8Array, b: Uint8Array): boolean {
  for (let i = 31; i >= 0; i--) if (a[i] !== b[i]) return a[i]! < b[i]!
  return false
}
