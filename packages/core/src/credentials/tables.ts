import { sql } from 'drizzle-orm'
import { type AnyPgColumn, index, integer, jsonb, snakeCase, text, unique, uuid } from 'drizzle-orm/pg-core'
import { tenants } from '../access/tables.ts'
import { at, createdAt, id, updatedAt } from '../db/columns.ts'

export const CREDENTIAL_KINDS = ['SSH_KEY', 'SSH_PASSWORD', 'BASTION', 'BECOME'] as const
export type CredentialKind = (typeof CREDENTIAL_KINDS)[number]
/** The fields that are sealed. Which of them a credential has follows from its kind. */
export const SECRET_FIELDS = ['privateKey', 'passphrase', 'password'] as const
export type SecretField = (typeof SECRET_FIELDS)[number]

export const credentials = snakeCase.table(
  'credentials',
  {
    id: id(),
    tenantId: uuid()
      .notNull()
      .references(() => tenants.id),
    name: text().notNull(),
    kind: text().$type<CredentialKind>().notNull(),
    description: text().notNull().default(''),
    /** Login name on the bastion, or on nodes that have no `ssh_user` of their own; on BECOME the user to become. */
    username: text(),
    /** BECOME only: sudo or su. */
    becomeMethod: text(),
    /** BASTION only: where it listens, and the bastion in front of it, if any. */
    host: text(),
    port: integer(),
    viaId: uuid().references((): AnyPgColumn => credentials.id),
    /** BASTION only: pinned host key as `type base64`, and the one last offered but not yet approved. */
    hostKey: text(),
    hostKeyApprovedAt: at(),
    offeredHostKey: text(),
    /** Public half of a private key, OpenSSH form, so people can tell keys apart and install them. */
    publicKey: text(),
    /** Field name -> sealed record (see seal.ts). */
    sealed: jsonb().$type<Partial<Record<SecretField, string>>>().notNull().default(sql`'{}'::jsonb`),
    lastUsedAt: at(),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (t) => [unique().on(t.tenantId, t.name), index().on(t.viaId)],
)

export type Credential = typeof credentials.$inferSelect

/** One row per key version: the salt from which, with the master password, its key-encryption key is derived. */
export const credentialKeys = snakeCase.table('credential_keys', {
  version: integer().primaryKey(),
  salt: text().notNull(),
  /** A sealed known value: a wrong master password is noticed at start and not at the first run. */
  proof: text().notNull(),
  createdAt: createdAt(),
})
