import { and, inArray } from 'drizzle-orm'
import type { Ctx } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { Conflict } from '../kernel/errors.ts'
import { MIN_SECRET_LENGTH } from '../kernel/input.ts'
import { checkPrivateKey } from './private-key.ts'
import { type Credential, type SecretField, type SecretStore, secretStores } from './tables.ts'

/** A secret store with its decrypted login. */
export type OpenStore = Pick<
  SecretStore,
  'id' | 'name' | 'kind' | 'address' | 'namespace' | 'mount' | 'auth' | 'roleId' | 'region' | 'accessKeyId'
> & { secret: string }

/**
 * Reads all keys of the secret at `path`. Workers provide the implementation; it is the only access to a store.
 * @throws DomainError naming the store, the path and the next step
 */
export type ReadSecret = (store: OpenStore, path: string) => Promise<Record<string, unknown>>

/** Returns the values of fields that credentials keep in secret stores. Reads each secret once for any number of fields. */
export async function storedFields(ctx: Ctx, known: Iterable<Credential>, read: ReadSecret) {
  const ids = [...new Set([...known].flatMap((credential) => credential.secretStoreId ?? []))]
  const rows =
    ids.length === 0
      ? []
      : await ctx.db
          .select()
          .from(secretStores)
          .where(and(visibleTo(ctx, secretStores), inArray(secretStores.id, ids)))
  const stores = new Map(rows.map((row) => [row.id, row]))
  const secrets = new Map<string, Promise<Record<string, unknown>>>()

  async function readOnce(store: SecretStore, path: string): Promise<Record<string, unknown>> {
    const { encrypted, ...plain } = store
    const context = { tenantId: ctx.tenantId, objectId: store.id, field: 'secret' }
    const secret = await ctx.vault.open(context, encrypted.secret ?? '').catch(() => {
      throw new Conflict(`The login of the secret store ${store.name} cannot be decrypted. Save its token or secret ID again.`)
    })
    return read({ ...plain, secret }, path)
  }

  return async (credential: Credential, field: SecretField): Promise<string | undefined> => {
    const ref = credential.secretRefs[field]
    const store = credential.secretStoreId && stores.get(credential.secretStoreId)
    if (!ref || !store) return undefined
    const path = store.mount === null ? ref.path : `${store.mount}/${ref.path}`
    const where = `${JSON.stringify(ref.key)} of ${path} in the secret store ${store.name}`
    const known = `${store.id}:${ref.path}`
    const secret = secrets.get(known) ?? readOnce(store, ref.path)
    secrets.set(known, secret)
    const value = (await secret)[ref.key]
    const wrong = (what: string) =>
      new Conflict(
        `The credential ${credential.name} reads its ${field} from ${where}, which ${what}. Correct the secret or the credential.`,
      )
    if (value === undefined) throw wrong('does not exist')
    if (typeof value !== 'string' || value === '') throw wrong('is not a text or is empty')
    if (value.length < MIN_SECRET_LENGTH)
      throw wrong(`has fewer than ${MIN_SECRET_LENGTH} characters and could not be masked in logs`)
    if (field !== 'privateKey' && /[\0\r\n]/.test(value)) throw wrong('has several lines')
    return value
  }
}

/** Validates a private key from a store like one that is saved in Muster. */
export function storedKey(credential: Credential, text: string, passphrase: string | undefined): string {
  try {
    return checkPrivateKey(text, passphrase).privateKey
  } catch (error) {
    throw new Conflict(`The private key of ${credential.name} in its secret store is invalid: ${(error as Error).message}.`)
  }
}
