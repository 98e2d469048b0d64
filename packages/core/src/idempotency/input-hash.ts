import { createHash, randomBytes, scrypt, timingSafeEqual } from 'node:crypto'
import { promisify } from 'node:util'
import { canonicalJson } from '../kernel/canonical-json.ts'

const SALT_BYTES = 16

const hash = async (salt: Buffer, input: unknown, hasSecrets: boolean): Promise<Buffer> =>
  hasSecrets
    ? ((await promisify(scrypt)(canonicalJson(input), salt, 32)) as Buffer)
    : createHash('sha256').update(salt).update(canonicalJson(input)).digest()

/**
 * Salted hash of a request's input.
 * @param hasSecrets hashes slowly, so that a copy of the table does not reveal a weak password
 */
export async function hashInput(input: unknown, hasSecrets: boolean): Promise<string> {
  const salt = randomBytes(SALT_BYTES)
  return Buffer.concat([salt, await hash(salt, input, hasSecrets)]).toString('base64')
}

/** Whether `record`, from `hashInput`, is of the same input. */
export async function isSameInput(record: string, input: unknown, hasSecrets: boolean): Promise<boolean> {
  const bytes = Buffer.from(record, 'base64')
  return timingSafeEqual(bytes.subarray(SALT_BYTES), await hash(bytes.subarray(0, SALT_BYTES), input, hasSecrets))
}
