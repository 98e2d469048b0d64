import { hkdfSync, pbkdf2, randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import { eq, max, sql } from 'drizzle-orm'
import type { Tx, Vault } from '../kernel/context.ts'
import type { Db } from '../kernel/db/client.ts'
import { Conflict } from '../kernel/errors.ts'
import { encrypt, open, recordVersion } from './encryption.ts'
import { credentialKeys } from './tables.ts'

const ROUNDS = 600_000
const PROOF_CONTEXT = { tenantId: '', objectId: '', field: 'proof' }
const PROOF_TEXT = 'this master password is the right one'

/** Key-encryption key of one version: 32 bytes from the master password and the version's own salt. */
export type DeriveKey = (masterPassword: string, salt: Buffer) => Promise<Buffer>
const deriveKey: DeriveKey = (masterPassword, salt) => promisify(pbkdf2)(masterPassword, salt, ROUNDS, 32, 'sha256')

/** Locks the keys until this transaction ends. */
export const lockKeys = (tx: Pick<Db, 'execute'>) => tx.execute(sql`lock table ${credentialKeys} in share row exclusive mode`)

const KEY_CONTEXT = { tenantId: '', objectId: '', field: 'key' }

/** Returns the key-encryption key of a row. @throws Conflict the password is wrong */
async function openKey(row: typeof credentialKeys.$inferSelect, masterPassword: string, derive: DeriveKey): Promise<Buffer> {
  const derived = await derive(masterPassword, Buffer.from(row.salt, 'base64'))
  try {
    const kek = row.wrapped === null ? derived : Buffer.from(open(derived, KEY_CONTEXT, row.wrapped), 'base64')
    open(kek, PROOF_CONTEXT, row.proof)
    return kek
  } catch {
    throw new Conflict(
      `The master password is incorrect: credentials of key version ${row.version} were encrypted with another one. ` +
        'Start with that one (CREDENTIAL_MASTER_PASSWORD, or its _FILE or _FD).',
    )
  }
}

/**
 * Changes the master password: wraps every key-encryption key with the new password, so that no record changes. One transaction,
 * so after a crash exactly one password is valid. May be repeated.
 * @param also what else is encrypted with the master password; runs in the same transaction
 * @returns false when the new password was already set
 * @throws Conflict neither password is valid, or there is no key yet
 */
export async function changeMasterPassword(
  db: Db,
  from: string,
  to: string,
  derive: DeriveKey = deriveKey,
  also: (tx: Tx) => Promise<void> = async () => {},
): Promise<boolean> {
  return db.transaction(async (tx) => {
    await lockKeys(tx)
    const rows = await tx.select().from(credentialKeys).orderBy(credentialKeys.version)
    if (rows.length === 0) throw new Conflict('There are no encrypted records yet. Start Muster with the new master password.')
    const fits = (password: string) =>
      Promise.all(rows.map((row) => openKey(row, password, derive))).catch((error: unknown) => error as Error)
    const keks = await fits(from)
    if (keks instanceof Error) {
      if (!((await fits(to)) instanceof Error)) return false
      throw keks
    }
    for (const [i, { version }] of rows.entries()) {
      const salt = randomBytes(16)
      const wrapped = encrypt(await derive(to, salt), version, KEY_CONTEXT, keks[i]!.toString('base64'))
      await tx
        .update(credentialKeys)
        .set({ salt: salt.toString('base64'), wrapped })
        .where(eq(credentialKeys.version, version))
    }
    await also(tx)
    return true
  })
}

/**
 * Opens the vault of this process. Every process encrypts with the newest version in `credential_keys`, as soon as its row is
 * committed. Keys are derived on first use and stay in memory.
 * @param atLeast the minimum version; created if missing. When several processes start at once, one creates it
 * and all use it.
 * @param derive tests use a faster function
 * @throws Conflict when the master password is not the one of this database
 */
export async function openVault(db: Db, masterPassword: string, atLeast: number, derive: DeriveKey = deriveKey): Promise<Vault> {
  const keys = new Map<number, Promise<Buffer>>()

  const load = async (version: number, from: Db | Tx = db): Promise<Buffer> => {
    const [row] = await from.select().from(credentialKeys).where(eq(credentialKeys.version, version))
    if (!row) throw new Error(`A record was encrypted with key version ${version}, which this database does not have.`)
    return openKey(row, masterPassword, derive)
  }
  const keyOf = (version: number): Promise<Buffer> => {
    const known = keys.get(version)
    if (known) return known
    const loading = load(version)
    keys.set(version, loading)
    // The database may only be temporarily unavailable, so the next caller tries again.
    loading.catch(() => keys.delete(version))
    return loading
  }
  const newest = async (from: Db | Tx = db): Promise<number> => {
    const [row] = await from.select({ version: max(credentialKeys.version) }).from(credentialKeys)
    return row?.version ?? 0
  }
  const vault: Vault = {
    async encrypt(context, text) {
      const version = await newest()
      return encrypt(await keyOf(version), version, context, text)
    },
    open: async (context, record) => open(await keyOf(recordVersion(record)), context, record),
    newestVersion: () => newest(),
    derive: async (purpose, version) => Buffer.from(hkdfSync('sha256', await keyOf(version), '', `muster ${purpose}`, 32)),
    async makeKey(tx, version) {
      // Read it again: the password may have changed since this process started, and a key must not be created with an old one.
      const last = await newest(tx)
      if (last > 0) await load(last, tx)
      const salt = randomBytes(16)
      const kek = await derive(masterPassword, salt)
      return { version, salt: salt.toString('base64'), proof: encrypt(kek, version, PROOF_CONTEXT, PROOF_TEXT) }
    },
  }

  // A new version must not use a password other than that of the existing versions.
  const before = await newest()
  if (before > 0) await keyOf(before)
  if (before < atLeast) {
    await db.transaction(async (tx) => {
      await lockKeys(tx)
      await tx
        .insert(credentialKeys)
        .values(await vault.makeKey(tx, atLeast))
        .onConflictDoNothing()
    })
    await keyOf(atLeast)
  }
  return vault
}
