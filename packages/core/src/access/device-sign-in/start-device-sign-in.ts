import { randomBytes, randomInt } from 'node:crypto'
import { sql } from 'drizzle-orm'
import { z } from 'zod'
import type { Db } from '../../kernel/db/client.ts'
import { parseInput } from '../../kernel/errors.ts'
import { singleLineText } from '../../kernel/input.ts'
import { deviceAuthorizations } from '../tables.ts'
import { hashToken } from '../tokens/make-token.ts'

export const StartDeviceSignInInput = z.object({
  tokenName: singleLineText(100),
  /** What the client calls its machine. */
  clientName: singleLineText(100),
  clientAddress: z.string(),
  /** Null: the role of the person who approves, but not owner. */
  role: z.string().max(100).nullish(),
  isInstallationAdmin: z.boolean().nullish(),
  /** Null: the tenant in which the person who approves works. */
  tenantName: z.string().max(200).nullish(),
  expiresInSeconds: z.int().min(60).nullish(),
})

/** Seconds for which the codes are valid, and between two polls. */
export const DEVICE_SIGN_IN = { expiresInSeconds: 600, intervalSeconds: 2 } as const

/** Consonants, as RFC 8628 recommends: they form no words and look different from each other. 34 bits. */
const ALPHABET = 'BCDFGHJKLMNPQRSTVWXZ'
const randomUserCode = () => Array.from({ length: 8 }, () => ALPHABET[randomInt(ALPHABET.length)]).join('')

/** The hash of a user code, which people may type in lower case and with or without the hyphen. */
export const userCodeHash = (text: string): string => hashToken(text.toUpperCase().replace(/[^A-Z]/g, ''))

/**
 * Starts the sign-in of a program on a machine without a browser (device authorization grant, RFC 8628). The program keeps the device
 * code; a person enters the user code in the console. Only hashes of both are stored.
 */
export async function startDeviceSignIn(
  db: Db,
  input: z.input<typeof StartDeviceSignInInput>,
): Promise<{ deviceCode: string; userCode: string }> {
  const { isInstallationAdmin, ...fields } = parseInput(StartDeviceSignInInput, input)
  await db.execute(sql`delete from device_authorizations where id in (select id from device_authorizations
    where expires_at < now() - interval '1 hour' limit 100 for update skip locked)`)
  const deviceCode = randomBytes(32).toString('base64url')
  const code = randomUserCode()
  await db.insert(deviceAuthorizations).values({
    ...fields,
    isInstallationAdmin: isInstallationAdmin ?? false,
    intervalSeconds: DEVICE_SIGN_IN.intervalSeconds,
    deviceCodeHash: hashToken(deviceCode),
    userCodeHash: userCodeHash(code),
    expiresAt: sql`now() + make_interval(secs => ${DEVICE_SIGN_IN.expiresInSeconds})`,
  })
  return { deviceCode, userCode: `${code.slice(0, 4)}-${code.slice(4)}` }
}
