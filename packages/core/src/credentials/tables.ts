import { sql } from 'drizzle-orm'
import { type AnyPgColumn, index, integer, jsonb, snakeCase, text, unique, uuid } from 'drizzle-orm/pg-core'
import { tenants } from '../access/tables.ts'
import { at, createdAt, id, updatedAt } from '../kernel/db/columns.ts'

export const CREDENTIAL_KINDS = ['SSH_KEY', 'SSH_PASSWORD', 'BASTION', 'BECOME', 'GIT'] as const
export type CredentialKind = (typeof CREDENTIAL_KINDS)[number]
/** The fields that are sealed. Which of them a credential has follows from its kind. */
export const SECRET_FIELDS = ['privateKey', 'passphrase', 'password'] as const
export type SecretField = (typeof SECRET_FIELDS)[number]

/** How Muster signs in to a secret store. */
export const SECRET_STORE_AUTHS = ['TOKEN', 'APP_ROLE'] as const
export type SecretStoreAuth = (typeof SECRET_STORE_AUTHS)[number]

/** A HashiCorp Vault or OpenBao in which credentials may keep their secrets; workers read them there. */
export const secretStores = snakeCase.table(
  'secret_stores',
  {
    id: id(),
    tenantId: uuid()
      .notNull()
      .references(() => tenants.id),
    name: text().notNull(),
    /** Origin only, `https://vault.example.org:8200`. */
    address: text().notNull(),
    namespace: text(),
    /** Where its KV engine, version 2, is mounted. */
    mount: text().notNull().default('secret'),
    auth: text().$type<SecretStoreAuth>().notNull(),
    /** APP_ROLE only; not secret by itself. */
    roleId: text(),
    /** The token, or the role's secret ID, sealed. */
    encrypted: jsonb().$type<{ secret?: string }>().notNull().default(sql`'{}'::jsonb`),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (t) => [unique().on(t.tenantId, t.name)],
)

export type SecretStore = typeof secretStores.$inferSelect
/** Where in a secret store a value is: a path below the mount, and a key of the secret there. */
export type SecretRef = { path: string; key: string }

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
    /** BASTION and GIT: where it listens; null on GIT: the port of the scheme. BASTION only: the bastion in front of it, if any. */
    host: text(),
    port: integer(),
    viaId: uuid().references((): AnyPgColumn => credentials.id),
    /** BASTION and GIT: pinned host key as `type base64`. BASTION only: the one last offered but not yet approved. */
    hostKey: text(),
    hostKeyApprovedAt: at(),
    offeredHostKey: text(),
    /** Public half of a private key, OpenSSH form, so people can tell keys apart and install them. */
    publicKey: text(),
    /** Field name -> sealed record (see seal.ts). */
    encrypted: jsonb().$type<Partial<Record<SecretField, string>>>().notNull().default(sql`'{}'::jsonb`),
    /** Fields whose values are in a secret store instead. */
    secretStoreId: uuid().references(() => secretStores.id),
    secretRefs: jsonb().$type<Partial<Record<SecretField, SecretRef>>>().notNull().default(sql`'{}'::jsonb`),
    lastUsedAt: at(),
    /** The last connection test that got as far as this login: when, and why it failed (null: it did not). */
    lastResultAt: at(),
    lastResultError: text(),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (t) => [unique().on(t.tenantId, t.name), index().on(t.viaId), index().on(t.secretStoreId)],
)

export type Credential = typeof credentials.$inferSelect

/**
 * One row per key version. Its key-encryption key is derived from the master password and the salt; or, since the password was
 * changed, what is derived opens `wrapped`, which is the key as it was.
 */
export const credentialKeys = snakeCase.table('credential_keys', {
  version: integer().primaryKey(),
  salt: text().notNull(),
  wrapped: text(),
  /** A sealed known value: a wrong master password is noticed at start and not at the first run. */
  proof: text().notNull(),
  createdAt: createdAt(),
})

/** Rows whose records could not be sealed anew with a key version. A row of this table counts as long as that one is as it was. */
export const reencryptFailures = snakeCase.table('reencrypt_failures', {
  objectId: uuid().primaryKey(),
  tenantId: uuid()
    .notNull()
    .references(() => tenants.id),
  keyVersion: integer().notNull(),
  reason: text().notNull(),
  failedAt: createdAt(),
})
