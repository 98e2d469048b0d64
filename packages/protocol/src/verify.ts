import { verify as openssl } from 'node:crypto'
import { createRequire } from 'node:module'
import { fromBase64, invalidPointReason, isBelow, type PublicKey } from './public-key.ts'

/**
 * Verifies with one fixed accept set, so that every implementation and library reaches the same result. A signature R||S of message M
 * under key A is valid when
 *   1. A and R are canonical encodings (y < p) of points that are not of small order,
 *   2. S < L, and
 *   3. [S]B = R + [SHA-512(R||A||M)]A, without multiplying by the cofactor.
 * libsodium checks all three. OpenSSL and BoringSSL check 3 and S < L, and compare R as bytes. OpenSSL 3.5 rejects points of small
 * order; BoringSSL (Bun) does not, and under such a key one signature is valid for many messages. No library guarantees its current
 * behavior, so 1 and 2 are always checked here.
 *
 * Signatures are verified one by one. No Node library verifies batches faster: @typeberry/native 0.5.1 (WebAssembly) loops internally
 * and takes 210 us per signature, OpenSSL 119, libsodium 54. A true batch equation requires multiplication by the cofactor.
 */
export function verify(
  message: Uint8Array,
  signature: string,
  key: PublicKey,
  implementation: VerifyImplementation = IMPLEMENTATIONS[0]!,
): boolean {
  const bytes = fromBase64(signature, 64)
  if (!bytes || invalidPointReason(bytes.subarray(0, 32)) || !isBelow(bytes.subarray(32), L)) return false
  return implementation(message, bytes, key)
}

type VerifyImplementation = (message: Uint8Array, signature: Uint8Array, key: PublicKey) => boolean

/** Available implementations, fastest first. libsodium takes half of OpenSSL's time and is prebuilt for common platforms. */
export const IMPLEMENTATIONS: readonly VerifyImplementation[] = [
  ...libsodium(),
  (message, signature, { key }) => openssl(null, message, key, signature),
]

function libsodium(): VerifyImplementation[] {
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
