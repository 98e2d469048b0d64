import { sql } from 'drizzle-orm'
import { v7 as uuidv7 } from 'uuid'
import { z } from 'zod'
import { audit } from '../audit/index.ts'
import { IdempotencyKey, idempotent, oneRow } from '../idempotency/index.ts'
import { ANY_HOST, isPasswordForNodes } from '../kernel/allowed-hosts.ts'
import { authorize, type Ctx, type Vault } from '../kernel/context.ts'
import { nameTaken } from '../kernel/db/rows.ts'
import { InvalidInput, parseInput } from '../kernel/errors.ts'
import { credentialAudit } from './audit-actions.ts'
import { checkVia, lockBastionGraph } from './bastions.ts'
import { FIELDS, missingFields, refIssues, unexpectedFields } from './fields.ts'
import { credentialPermissions } from './permissions.ts'
import { checkPrivateKey } from './private-key.ts'
import { checkStore } from './secret-stores/check-store.ts'
import { CREDENTIAL_KINDS, type Credential, type CredentialKind, credentials, SECRET_FIELDS, type SecretField } from './tables.ts'

/** Ports of credentials without one. */
export const DEFAULT_PORTS: Partial<Record<CredentialKind, number>> = { BASTION: 22, SALT: 8000, SLURMRESTD: 6820 }

export const CreateCredentialInput = z.object({
  ...FIELDS,
  kind: z.enum(CREDENTIAL_KINDS),
  description: FIELDS.description.nullish(),
  idempotencyKey: IdempotencyKey,
})

/** Encrypts the given secret fields for the credential `credentialId`. */
export async function encryptSecrets(
  vault: Vault,
  tenantId: string,
  credentialId: string,
  input: Partial<Record<SecretField, string | null>>,
) {
  const encrypted: Partial<Record<SecretField, string>> = {}
  for (const field of SECRET_FIELDS)
    if (input[field] != null) encrypted[field] = await vault.encrypt({ tenantId, objectId: credentialId, field }, input[field])
  return encrypted
}

/**
 * Creates a credential. Its secrets are encrypted before they reach the database and are never returned.
 * @throws InvalidInput a key that does not parse, a wrong passphrase, fields that do not belong to the kind
 * @throws Conflict the name is taken
 */
export async function createCredential(ctx: Ctx, input: z.input<typeof CreateCredentialInput>): Promise<Credential> {
  authorize(ctx, credentialPermissions.write)
  const { idempotencyKey, ...fields } = parseInput(CreateCredentialInput, input)
  const { kind } = fields
  const secretRefs = fields.secretRefs ?? {}
  const { secretStoreId = null } = fields
  const issues = [
    ...unexpectedFields(kind, fields),
    ...missingFields(kind, { ...fields, ...secretRefs }),
    ...refIssues(kind, { secretStoreId, secretRefs }),
    ...SECRET_FIELDS.filter((field) => secretRefs[field] && fields[field] != null).map((field) => ({
      path: field,
      message: 'is set both directly and as a secret store reference; set one of them',
    })),
  ]
  if (issues.length > 0) throw new InvalidInput(issues)
  if (fields.passphrase && !fields.privateKey) throw new InvalidInput([{ path: 'passphrase', message: 'requires a private key' }])
  const key = fields.privateKey ? checkPrivateKey(fields.privateKey, fields.passphrase ?? undefined) : null
  const id = uuidv7()
  const encrypted = await encryptSecrets(ctx.vault, ctx.tenantId, id, { ...fields, privateKey: key?.privateKey ?? null })
  return idempotent(
    ctx,
    { verb: 'createCredential', key: idempotencyKey, input: fields, hasSecrets: true, result: oneRow(credentials) },
    async (tx) => {
      if (fields.viaId) {
        await lockBastionGraph(tx, ctx)
        await checkVia(tx, ctx, id, fields.viaId)
      }
      if (secretStoreId) await checkStore(tx, ctx, secretStoreId)
      const [credential] = await tx
        .insert(credentials)
        .values({
          id,
          tenantId: ctx.tenantId,
          name: fields.name,
          kind,
          description: fields.description ?? '',
          username: fields.username ?? (kind === 'BECOME' ? 'root' : null),
          becomeMethod: kind === 'BECOME' ? (fields.becomeMethod ?? 'sudo') : null,
          host: fields.host ?? null,
          port: fields.port ?? DEFAULT_PORTS[kind] ?? null,
          viaId: fields.viaId ?? null,
          hostKey: fields.hostKey ?? null,
          allowedHosts: fields.allowedHosts ?? (isPasswordForNodes(fields) ? [ANY_HOST] : []),
          hostKeyApprovedAt: fields.hostKey ? sql`now()` : null,
          publicKey: key?.publicKey ?? null,
          encrypted,
          secretStoreId,
          secretRefs,
        })
        .onConflictDoNothing()
        .returning()
      if (!credential) throw nameTaken('credential', fields.name)
      await audit(tx, ctx, credentialAudit.create, credential, { kind, secrets: Object.keys(encrypted) })
      return credential
    },
  )
}
