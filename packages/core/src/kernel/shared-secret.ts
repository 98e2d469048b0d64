import { createHash, timingSafeEqual } from 'node:crypto'
import fs from 'node:fs'

/**
 * Reads a secret that another program sends with its requests.
 * @param setting name of the setting that names the file
 * @throws Error the file is unreadable, or its content is not fit for a header or too short
 */
export function readSharedSecret(setting: string, file: string): string {
  let secret: string
  try {
    secret = fs.readFileSync(file, 'utf8').trim()
  } catch (error) {
    throw new Error(`${setting} names ${file}, which cannot be read (${(error as NodeJS.ErrnoException).code}).`)
  }
  if (!/^[!-~]{16,200}$/.test(secret))
    throw new Error(`${setting} names ${file}, which must contain 16 to 200 ASCII characters without spaces.`)
  return secret
}

/** Compares in a time that does not depend on the contents. */
export function isSameSecret(one: string, other: string): boolean {
  const hash = (text: string) => createHash('sha256').update(text).digest()
  return timingSafeEqual(hash(one), hash(other))
}
