import { createCipheriv, createDecipheriv, hkdfSync, randomBytes } from 'node:crypto'
import type { EncryptionContext } from '../kernel/context.ts'

// record = base64(version byte | salt | nonce | ciphertext | tag)
const SALT = 16
const NONCE = 12
const TAG = 16
const INFO = 'muster credential record'

/**
 * Binds a record to its context and key version: a copy in another row or column cannot be decrypted. JSON separates the parts
 * unambiguously.
 */
const associatedData = (context: EncryptionContext, version: number) =>
  Buffer.from(JSON.stringify([context.tenantId, context.objectId, context.field, version]))

// Every record has its own key, so no nonce repeats under one key.
const recordKey = (kek: Buffer, salt: Buffer) => Buffer.from(hkdfSync('sha256', kek, salt, INFO, 32))

/** Encrypts `text` with AES-256-GCM under a key derived from `kek`, the key-encryption key of `version` (1..255). */
export function encrypt(kek: Buffer, version: number, context: EncryptionContext, text: string): string {
  const salt = randomBytes(SALT)
  const nonce = randomBytes(NONCE)
  const cipher = createCipheriv('aes-256-gcm', recordKey(kek, salt), nonce)
  cipher.setAAD(associatedData(context, version))
  const encrypted = Buffer.concat([cipher.update(text, 'utf8'), cipher.final()])
  return Buffer.concat([Buffer.from([version]), salt, nonce, encrypted, cipher.getAuthTag()]).toString('base64')
}

/** Key version of `record`. */
export function recordVersion(record: string): number {
  const bytes = Buffer.from(record, 'base64')
  if (bytes.length < 1 + SALT + NONCE + TAG) throw new Error('An encrypted record is too short: it was modified or truncated.')
  return bytes[0]!
}

/** @throws Error when `record` was modified, or encrypted for another place or with another key */
export function open(kek: Buffer, context: EncryptionContext, record: string): string {
  const version = recordVersion(record)
  const bytes = Buffer.from(record, 'base64')
  const salt = bytes.subarray(1, 1 + SALT)
  const nonce = bytes.subarray(1 + SALT, 1 + SALT + NONCE)
  const decipher = createDecipheriv('aes-256-gcm', recordKey(kek, salt), nonce, { authTagLength: TAG })
  decipher.setAAD(associatedData(context, version))
  decipher.setAuthTag(bytes.subarray(-TAG))
  try {
    return Buffer.concat([decipher.update(bytes.subarray(1 + SALT + NONCE, -TAG)), decipher.final()]).toString('utf8')
  } catch {
    throw new Error(
      'An encrypted record cannot be decrypted: it was modified, copied from another row or column, or encrypted with another key.',
    )
  }
}
