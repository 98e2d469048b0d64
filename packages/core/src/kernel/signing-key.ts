import { createPrivateKey, type KeyObject } from 'node:crypto'
import type { Vault } from './context.ts'

// An Ed25519 private key in PKCS #8 is this prefix and 32 bytes (RFC 8410).
const PKCS8_PREFIX = Buffer.from('302e020100300506032b657004220420', 'hex')

/** The Ed25519 private key for `purpose`, derived from the encryption key of `version`. */
export async function signingKey(vault: Vault, purpose: string, version: number): Promise<KeyObject> {
  const seed = await vault.derive(purpose, version)
  return createPrivateKey({ key: Buffer.concat([PKCS8_PREFIX, seed]), format: 'der', type: 'pkcs8' })
}
