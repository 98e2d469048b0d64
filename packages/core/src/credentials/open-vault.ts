import { pbkdf2, randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import { eq, max } from 'drizzle-orm'
import type { Vault } from '../context.ts'
import type { Db } from '../db/client.ts'
import { open, recordVersion, seal } from './seal.ts'
import { credentialKeys } from './tables.ts'

const ROUNDS = 600_000
const PROOF_PLACE = { tenantId: '', objectId: '', field: 'proof' }
const PROOF_TEXT = 'this master password is the right one'

/** Key-encryption key of one version: 32 bytes from the master password and the version's own salt. */
export type DeriveKey = (masterPassword: string, salt: Buffer) => Promise<Buffer>
const deriveKey: DeriveKey = (masterPassword, salt) => promisify(pbkdf2)(masterPassword, salt, ROUNDS, 32, 'sha256')

/**
 * The vault of this process. The newest version in `credential_keys` is the one to seal with, in every process from the moment
 * in which its row is there. Keys are derived when they are first needed and kept in memory.
 * @param atLeast the version to begin with: made here when there is none that is as new. Of several processes that start at once
 *   one makes it and all use it.
 * @param derive for tests, which have no half second for each database
 * @throws Error when the master password is not the one that the database's credentials were sealed with
 */
export async function openVault(db: Db, masterPassword: string, atLeast: number, derive: DeriveKey = deriveKey): Promise<Vault> {
  const keys = new Map<number, Promise<Buffer>>()

  const load = async (version: number): Promise<Buffer> => {
    const [row] = await db.select().from(credentialKeys).where(eq(credentialKeys.version, version))
    if (!row) throw new Error(`A record was sealed with key version ${version}, which this database does not have.`)
    const kek = await derive(masterPassword, Buffer.from(row.salt, 'base64'))
    try {
      open(kek, PROOF_PLACE, row.proof)
    } catch {
      throw new Error(
        `The master password does not fit: credentials of key version ${version} were sealed with another one. ` +
          'Start with that one (CREDENTIAL_MASTER_PASSWORD, or its _FILE or _FD).',
      )
    }
    return kek
  }
  const keyOf = (version: number): Promise<Buffer> => {
    const known = keys.get(version)
    if (known) return known
    const loading = load(version)
    keys.set(version, loading)
    // The database may only have been away: the next one asks again.
    loading.catch(() => keys.delete(version))
    return loading
  }
  const newest = async (): Promise<number> => {
    const [row] = await db.select({ version: max(credentialKeys.version) }).from(credentialKeys)
    return row?.version ?? 0
  }
  const vault: Vault = {
    async seal(place, text) {
      const version = await newest()
      return seal(await keyOf(version), version, place, text)
    },
    open: async (place, record) => open(await keyOf(recordVersion(record)), place, record),
    newestVersion: newest,
    async makeKey(version) {
      const salt = randomBytes(16)
      const kek = await derive(masterPassword, salt)
      return { version, salt: salt.toString('base64'), proof: seal(kek, version, PROOF_PLACE, PROOF_TEXT) }
    },
  }

  // A new version must not be made with another password than the one that opens what is there.
  const before = await newest()
  if (before > 0) await keyOf(before)
  if (before < atLeast) {
    await db
      .insert(credentialKeys)
      .values(await vault.makeKey(atLeast))
      .onConflictDoNothing()
    await keyOf(atLeast)
  }
  return vault
}
