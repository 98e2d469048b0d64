import { and, inArray } from 'drizzle-orm'
import type { Ctx } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { Conflict } from '../kernel/errors.ts'
import { checkPrivateKey } from './private-key.ts'
import { type Credential, type SecretField, type SecretStore, secretStores } from './tables.ts'

/** A secret store with what opens it, in the clear. */
export type OpenStore = Pick<SecretStore, 'id' | 'name' | 'address' | 'namespace' | 'mount' | 'auth' | 'roleId'> & {
  secret: string
}

/**
 * Reads the secret at `path`, all its keys: the one way to a store, which a worker brings along.
 * @throws DomainError that says which store and path, and what to do
 */
export type ReadSecret = (store: OpenStore, path: string) => Promise<Record<string, unknown>>

/** Values of fields that credentials keep in secret stores. Each secret is read once, however many fields come from it. */
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
    const place = { tenantId: ctx.tenantId, objectId: store.id, field: 'secret' }
    const secret = await ctx.vault.open(place, encrypted.secret ?? '').catch(() => {
      throw new Conflict(`The secret store ${store.name} does not open; save its token or secret ID again.`)
    })
    return read({ ...plain, secret }, path)
  }

  return async (credential: Credential, field: SecretField): Promise<string | undefined> => {
    const ref = credential.secretRefs[field]
    const store = credential.secretStoreId && stores.get(credential.secretStoreId)
    if (!ref || !store) return undefined
    const where = `${JSON.stringify(ref.key)} of ${store.mount}/${ref.path} in the secret store ${store.name}`
    const known = `${store.id}:${ref.path}`
    const secret = secrets.get(known) ?? readOnce(store, ref.path)
    secrets.set(known, secret)
    const value = (await secret)[ref.key]
    const wrong = (what: string) =>
      new Conflict(`The credential ${credential.name} takes its ${field} from ${where}, ${what}; change one of the two.`)
    if (value === undefined) throw wrong('which is not there')
    if (typeof value !== 'string' || value === '') throw wrong('which is no text')
    if (field !== 'privateKey' && /[\0\r\n]/.test(value)) throw wrong('which has several lines')
    return value
  }
}

/** A private key from a store, checked like one that is saved here. */
export function storedKey(credential: Credential, text: string, passphrase: string | undefined): string {
  try {
    return checkPrivateKey(text, passphrase).privateKey
  } catch (error) {
    throw new Conflict(`The private key of ${credential.name} in its secret store is of no use: ${(error as Error).message}.`)
  }
}
