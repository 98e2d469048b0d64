import { verify as openssl } from 'node:crypto'
import { createRequire } from 'node:module'
import { fromBase64, isBelow, type PublicKey, whyNotPoint } from './public-key.ts'

/**
 * One accept set, so that whoever checks a signature, in whatever way and with whatever library, comes to the same answer:
 * a signature R||S of message M under key A counts when
 *   1. A and R are canonical encodings (y < p) of points that are not of small order,
 *   2. S < L, and
 *   3. [S]B = R + [SHA-512(R||A||M)]A, without multiplying by the cofactor.
 * libsodium checks all of it. OpenSSL and BoringSSL check 3 and S < L, and compare R as bytes. OpenSSL 3.5 refuses points of small order,
 * BoringSSL (Bun) does not: under such a key one signature holds for many messages. None promises to go on as it does, so 1 and 2 are
 * checked here in any case.
 *
 * One by one: of the libraries for Node none was found that verifies many at once any quicker. @typeberry/native 0.5.1, in WebAssembly, says itself
 * that its batch is none, and its loop takes 210 us a signature where OpenSSL takes 119 and libsodium 54. The equation of a true batch
 * only holds for those who multiply by the cofactor.
 */
export function verify(message: Uint8Array, signature: string, key: PublicKey, equation: Equation = EQUATIONS[0]!): boolean {
  const bytes = fromBase64(signature, 64)
  if (!bytes || whyNotPoint(bytes.subarray(0, 32)) || !isBelow(bytes.subarray(32), L)) return false
  return equation(message, bytes, key)
}

type Equation = (message: Uint8Array, signature: Uint8Array, key: PublicKey) => boolean

/** Those that there are here, the quickest first. libsodium takes half of OpenSSL's time, and is built for the usual platforms. */
export const EQUATIONS: readonly Equation[] = [
  ...libsodium(),
  (message, signature, { key }) => openssl(null, message, key, signature),
]

function libsodium(): Equation[] {
  try {
    const sodium = createRequire(import.meta.url)('sodium-native') as {
      crypto_sign_verify_detached(signature: Uint8Array, message: Uint8Array, key: Uint8Array): boolean
    }
    return [(message, signature, { bytes }) => sodium.crypto_sign_verify_detached(signature, message, bytes)]
  } catch {
    return []
  }
}

const L = Buffer.from('edd3f55c1a631258d69cf7a2def9de1400000000000000000000000000000010', 'hex')
