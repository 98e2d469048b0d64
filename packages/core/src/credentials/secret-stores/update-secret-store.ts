import { and, eq, sql } from 'drizzle-orm'
import { z } from 'zod'
import { audit } from '../../audit/index.ts'
import { authorize, type Ctx, inTransaction } from '../../kernel/context.ts'
import { nameTaken, notFoundOrConflict, sqlState, UNIQUE_VIOLATION, visibleTo } from '../../kernel/db/rows.ts'
import { InvalidInput, parseInput } from '../../kernel/errors.ts'
import { Id } from '../../kernel/input.ts'
import { secretStoreAudit } from '../audit-actions.ts'
import { credentialPermissions } from '../permissions.ts'
import { type SecretStore, secretStores } from '../tables.ts'
import { awsEndpoint, STORE_FIELDS, storeIssues } from './secret-store-fields.ts'

/** The stored secret belongs to these. */
const SECRET_IS_FOR = ['address', 'auth', 'region', 'accessKeyId'] as const

export const UpdateSecretStoreInput = z.object({ ...z.object(STORE_FIELDS).partial().shape, id: Id })

/**
 * Changes the given fields. A change of address or authentication requires the secret, because the stored one was meant for the
 * old target.
 * @throws InvalidInput, NotFound, Conflict the name is taken
 */
export async function updateSecretStore(ctx: Ctx, input: z.input<typeof UpdateSecretStoreInput>): Promise<SecretStore> {
  authorize(ctx, credentialPermissions.write)
  const { id, secret, ...changes } = parseInput(UpdateSecretStoreInput, input)
  const record = secret && (await ctx.vault.encrypt({ tenantId: ctx.tenantId, objectId: id, field: 'secret' }, secret))
  const scope = and(visibleTo(ctx, secretStores), eq(secretStores.id, id))
  const work = inTransaction(ctx, async (tx) => {
    const [before] = await tx.select().from(secretStores).where(scope).for('no key update')
    if (!before) throw await notFoundOrConflict(tx, ctx, secretStores, id, 'secret store', () => null)
    const { region } = changes
    if (region && !changes.address && before.region && before.address === awsEndpoint(before.region))
      changes.address = awsEndpoint(region)
    const after = { ...before, ...Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== undefined)) }
    const isMoved = SECRET_IS_FOR.some((field) => after[field] !== before[field])
    const issues = [
      ...storeIssues(after),
      ...(isMoved && !record
        ? [{ path: 'secret', message: 'is required again when the address or the authentication changes' }]
        : []),
    ]
    if (issues.length > 0) throw new InvalidInput(issues)
    const [store] = await tx
      .update(secretStores)
      .set({ ...changes, ...(record ? { encrypted: { secret: record } } : {}), updatedAt: sql`now()` })
      .where(scope)
      .returning()
    await audit(tx, ctx, secretStoreAudit.update, store!, { changed: [...Object.keys(changes), ...(record ? ['secret'] : [])] })
    return store!
  })
  return work.catch((error: unknown) => {
    if (sqlState(error) === UNIQUE_VIOLATION) throw nameTaken('secret store', changes.name)
    throw error
  })
}
