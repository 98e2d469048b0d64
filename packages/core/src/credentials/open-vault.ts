import { pbkdf2, randomBytes } from 'node:crypto'
import { promisify } from 'node:util'
import { desc, eq } from 'drizzle-orm'
import type { Vault } from '../context.ts'
import type { Db } from '../db/client.ts'
import { open, recordVersion, seal } from './seal.ts'
import { credentialKeys } from './tables.ts'

const ROUNDS = 600_000
const PROOF_PLACE = { tenantId: '', credentialId: '', field: 'proof' }
const PROOF_TEXT = 'this master password is the right one'

/** Key-encryption key of one version: 32 bytes from the master password and the version's own salt. */
export type DeriveKey = (masterPassword: string, salt: Buffer) => Promise<Buffer>
const deriveKey: DeriveKey = (masterPassword, salt) => promisify(pbkdf2)(masterPassword, salt, ROUNDS, 32, 'sha256')

/**
 * The vault of this process. Derives the key of `keyVersion` (making its row on a fresh database: of several processes that
 * start at once one row wins and all use it) and keeps keys in memory; keys of other versions are derived when a record asks.
 * @param derive for tests, which have no half second for each database
 * @throws Error when the master password is not the one that the database's credentials were sealed with
 */
export async function openVault(
  db: Db,
  masterPassword: string,
  keyVersion: number,
  derive: DeriveKey = deriveKey,
): Promise<Vault> {
  const keys = new Map<number, Promise<Buffer>>()

  const load = async (version: number): Promise<Buffer | null> => {
    const [row] = await db.select().from(credentialKeys).where(eq(credentialKeys.version, version))
    if (!row) return null
    const kek = await derive(masterPassword, Buffer.from(row.salt, 'base64'))
    try {
      open(kek, PROOF_PLACE, row.proof)
    } catch {
      throw new Error(
        `The master password does not fit: credentials of key version ${version} were sealed with another one. ` +
          'Start with that one (CREDENTIAL_MASTER_PASSWORD or CREDENTIAL_MASTER_PASSWORD_FILE).',
      )
    }
    return kek
  }
  const keyOf = (version: number): Promise<Buffer> => {
    const known = keys.get(version)
    if (known) return known
    const loading = load(version).then((kek) => {
      if (!kek) throw new Error(`A record was sealed with key version ${version}, which this database does not have.`)
      return kek
    })
    keys.set(version, loading)
    // The database may only have been away: the next one asks again.
    loading.catch(() => keys.delete(version))
    return loading
  }

  let current = await load(keyVersion)
  if (!current) {
    // A new version must not be made with another password than the one that opens what is there.
    const [before] = await db
      .select({ version: credentialKeys.version })
      .from(credentialKeys)
      .orderBy(desc(credentialKeys.version))
      .limit(1)
    if (before) await keyOf(before.version)
    const salt = randomBytes(16)
    const kek = await derive(masterPassword, salt)
    await db
      .insert(credentialKeys)
      .values({ version: keyVersion, salt: salt.toString('base64'), proof: seal(kek, keyVersion, PROOF_PLACE, PROOF_TEXT) })
      .onConflictDoNothing()
    current = await keyOf(keyVersion)
  }
  const kek = current
  keys.set(keyVersion, Promise.resolve(kek))
  return {
    version: keyVersion,
    seal: (place, text) => seal(kek, keyVersion, place, text),
    open: async (place, record) => open(await keyOf(recordVersion(record)), place, record),
  }
}
