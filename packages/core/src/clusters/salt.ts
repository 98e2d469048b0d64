import { z } from 'zod'
import type { Ctx, Tx } from '../kernel/context.ts'
import { InvalidInput } from '../kernel/errors.ts'
import { Id } from '../kernel/input.ts'
import { CaCertificate } from '../kernel/outbound/index.ts'
import { lockCredential } from './fields.ts'
import type { SaltColumns } from './tables.ts'

/** Name of an external authentication of Salt without an entry in the settings of the cluster. */
const DEFAULT_EAUTH = 'pam'

/** Salt of a managed cluster. */
export const SALT_FIELDS = {
  /** A credential of the kind SALT; null: without Salt. */
  saltCredentialId: Id.nullish(),
  saltEauth: z
    .string()
    .regex(/^[a-z][a-z0-9_]{0,49}$/, 'must be the name of an external authentication, such as pam')
    .nullish(),
  saltCaCertificate: CaCertificate.nullish(),
  /** Whether Salt installs and removes the packages of Slurm. */
  saltInstalls: z.boolean().nullish(),
}
type SaltFields = z.output<z.ZodObject<typeof SALT_FIELDS>>
export const WITHOUT_SALT: SaltColumns = { saltCredentialId: null, saltEauth: null, saltCaCertificate: null, saltInstalls: false }

/** Fields that only make sense with a salt-api: the first one that is set. */
export const givenSaltField = (fields: Partial<SaltFields>): keyof SaltFields | undefined =>
  (Object.keys(SALT_FIELDS) as (keyof SaltFields)[]).find((field) => fields[field] != null && fields[field] !== false)

/**
 * The columns after a change. Locks the credential until the transaction ends.
 * @throws InvalidInput
 */
export async function saltColumns(tx: Tx, ctx: Ctx, fields: SaltFields, before?: SaltColumns): Promise<SaltColumns> {
  const saltCredentialId = fields.saltCredentialId === undefined ? (before?.saltCredentialId ?? null) : fields.saltCredentialId
  if (saltCredentialId === null) {
    const path = givenSaltField(fields)
    if (path) throw new InvalidInput([{ path, message: 'requires a credential of the kind SALT' }])
    return WITHOUT_SALT
  }
  if (saltCredentialId !== before?.saltCredentialId) await lockCredential(tx, ctx, 'saltCredentialId', saltCredentialId, 'SALT')
  return {
    saltCredentialId,
    saltEauth: fields.saltEauth ?? (fields.saltEauth === undefined ? before?.saltEauth : null) ?? DEFAULT_EAUTH,
    saltCaCertificate: fields.saltCaCertificate === undefined ? (before?.saltCaCertificate ?? null) : fields.saltCaCertificate,
    saltInstalls: (fields.saltInstalls === undefined ? before?.saltInstalls : fields.saltInstalls) ?? false,
  }
}
