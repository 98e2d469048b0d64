import { and, eq, sql } from 'drizzle-orm'
import { z } from 'zod'
import { audit } from '../audit/index.ts'
import { authorize, type Ctx, inTransaction } from '../kernel/context.ts'
import { nameTaken, notFoundOrConflict, sqlState, UNIQUE_VIOLATION, visibleTo } from '../kernel/db/rows.ts'
import { Conflict, InvalidInput, parseInput } from '../kernel/errors.ts'
import { Id } from '../kernel/input.ts'
import { fingerprint } from '../nodes/index.ts'
import { credentialRotations, unfinishedOf } from '../rotations/tables.ts'
import { credentialAudit } from './audit-actions.ts'
import { checkVia, lockBastionGraph } from './bastions.ts'
import { DEFAULT_PORTS, encryptSecrets } from './create-credential.ts'
import { FIELDS, missingFields, refIssues, unexpectedFields } from './fields.ts'
import { credentialPermissions } from './permissions.ts'
import { checkPrivateKey } from './private-key.ts'
import { checkStore } from './secret-stores/check-store.ts'
import { type Credential, credentials, type SecretField } from './tables.ts'

export const UpdateCredentialInput = z.object({
  ...FIELDS,
  id: Id,
  name: FIELDS.name.optional(),
  description: FIELDS.description.optional(),
})

/**
 * Changes the given fields; null clears a field. A new private key replaces the old passphrase too. A change of host or port
 * requires the secrets stored in Muster, so that stored secrets cannot be redirected to another host. It also drops a bastion's
 * pinned host key, because another machine may answer there; the audit entry keeps its fingerprint.
 * @throws InvalidInput as for createCredential
 * @throws NotFound, Conflict the name is taken
 */
export async function updateCredential(ctx: Ctx, input: z.input<typeof UpdateCredentialInput>): Promise<Credential> {
  authorize(ctx, credentialPermissions.write)
  const { id, ...fields } = parseInput(UpdateCredentialInput, input)
  if (fields.passphrase !== undefined && !fields.privateKey)
    throw new InvalidInput([{ path: 'passphrase', message: 'cannot be validated without the private key; provide both' }])
  const key = fields.privateKey ? checkPrivateKey(fields.privateKey, fields.passphrase ?? undefined) : null
  const given: Partial<Record<SecretField, string | null>> = {}
  if (fields.password !== undefined) given.password = fields.password
  if (fields.privateKey !== undefined)
    Object.assign(given, { privateKey: key?.privateKey ?? null, passphrase: fields.passphrase ?? null })
  const fresh = await encryptSecrets(ctx.vault, ctx.tenantId, id, given)

  const work = inTransaction(ctx, async (tx) => {
    const scope = and(visibleTo(ctx, credentials), eq(credentials.id, id))
    if (fields.viaId) await lockBastionGraph(tx, ctx)
    const [before] = await tx.select().from(credentials).where(scope).for('no key update')
    if (!before) throw await notFoundOrConflict(tx, ctx, credentials, id, 'credential', () => null)
    const isSecretChanged = Object.keys(given).length > 0 || fields.secretRefs !== undefined || fields.secretStoreId !== undefined
    if (isSecretChanged && (await tx.$count(credentialRotations, unfinishedOf(ctx, id))) > 0)
      throw new Conflict(`A rotation of ${before.name} is in progress. Wait for its end, or cancel it.`)
    const { encrypted: old, ...known } = before
    const encrypted = { ...old, ...fresh }
    for (const [field, value] of Object.entries(given)) if (value === null) delete encrypted[field as SecretField]
    // A field is in Muster or in the store; a new value replaces the other one.
    const secretRefs = { ...(fields.secretRefs === undefined ? before.secretRefs : fields.secretRefs) }
    for (const field of Object.keys(given) as SecretField[]) if (!fields.secretRefs?.[field]) delete secretRefs[field]
    for (const field of Object.keys(secretRefs) as SecretField[]) delete encrypted[field]
    if (fields.secretRefs?.privateKey) delete encrypted.passphrase
    const isStored = Object.keys(secretRefs).length > 0
    const secretStoreId = isStored || fields.secretStoreId ? (fields.secretStoreId ?? before.secretStoreId) : null
    const {
      privateKey: _key,
      passphrase: _phrase,
      password: _password,
      secretRefs: _refs,
      secretStoreId: _store,
      ...plain
    } = fields
    const changes = Object.fromEntries(Object.entries(plain).filter(([, value]) => value !== undefined)) as Partial<typeof plain>
    if (changes.port === null) changes.port = DEFAULT_PORTS[before.kind] ?? null
    const isMoved =
      (changes.host !== undefined && changes.host !== before.host) || (changes.port !== undefined && changes.port !== before.port)
    // Users who may write credentials can already read a store's secrets through another credential, so these need no protection.
    const kept = (['privateKey', 'password'] as const).filter((field) => encrypted[field] && !(field in given))
    const issues = [
      ...unexpectedFields(before.kind, fields),
      ...(isMoved ? kept : []).map((path) => ({
        path,
        message: 'is required again when the host or port changes: the stored one was for the previous address',
      })),
      ...missingFields(before.kind, { ...known, ...(isMoved ? { hostKey: null } : {}), ...changes, ...encrypted, ...secretRefs }),
      ...refIssues(before.kind, { secretStoreId, secretRefs }),
    ]
    if (issues.length > 0) throw new InvalidInput(issues)
    if (fields.secretStoreId) await checkStore(tx, ctx, fields.secretStoreId)
    if (fields.viaId) await checkVia(tx, ctx, id, fields.viaId)
    if (before.kind === 'BECOME') {
      if (changes.username === null) changes.username = 'root'
      if (changes.becomeMethod === null) changes.becomeMethod = 'sudo'
    }
    const isForgotten = isMoved && !changes.hostKey
    const [credential] = await tx
      .update(credentials)
      .set({
        ...changes,
        encrypted,
        secretRefs,
        secretStoreId,
        ...(fields.privateKey === undefined && !secretRefs.privateKey ? {} : { publicKey: key?.publicKey ?? null }),
        ...(isForgotten ? { hostKey: null, hostKeyApprovedAt: null, offeredHostKey: null } : {}),
        ...(changes.hostKey ? { hostKeyApprovedAt: sql`now()` } : {}),
        updatedAt: sql`now()`,
      })
      .where(scope)
      .returning()
    await audit(tx, ctx, credentialAudit.update, credential!, {
      changed: [...Object.keys(changes), ...Object.keys(given), ...(fields.secretRefs === undefined ? [] : ['secretRefs'])],
      ...(isForgotten && before.hostKey ? { droppedHostKey: fingerprint(before.hostKey) } : {}),
    })
    return credential!
  })
  return work.catch((error: unknown) => {
    if (sqlState(error) === UNIQUE_VIOLATION) throw nameTaken('credential', fields.name)
    throw error
  })
}
