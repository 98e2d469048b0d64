import { sql } from 'drizzle-orm'
import { type AnyPgColumn, index, integer, jsonb, snakeCase, text, unique, uuid } from 'drizzle-orm/pg-core'
import { tenants } from '../access/tables.ts'
import { at, createdAt, id, updatedAt } from '../kernel/db/columns.ts'

export const CREDENTIAL_KINDS = ['SSH_KEY', 'SSH_PASSWORD', 'BASTION', 'BECOME', 'GIT', 'SALT', 'SLURMRESTD', 'BMC'] as const
export type CredentialKind = (typeof CREDENTIAL_KINDS)[number]
/** The encrypted fields. The kind of a credential determines which of them it has. */
export const SECRET_FIELDS = ['privateKey', 'passphrase', 'password'] as const
export type SecretField = (typeof SECRET_FIELDS)[number]

/** VAULT: HashiCorp Vault or OpenBao. */
export const SECRET_STORE_KINDS = ['VAULT', 'AWS_SECRETS_MANAGER'] as const
export type SecretStoreKind = (typeof SECRET_STORE_KINDS)[number]
/** Authentication methods of secret stores: TOKEN and APP_ROLE for VAULT, ACCESS_KEY for AWS_SECRETS_MANAGER. */
export const SECRET_STORE_AUTHS = ['TOKEN', 'APP_ROLE', 'ACCESS_KEY'] as const
export type SecretStoreAuth = (typeof SECRET_STORE_AUTHS)[number]

/** A server with secrets of credentials. Workers read them there. */
export const secretStores = snakeCase.table(
  'secret_stores',
  {
    id: id(),
    tenantId: uuid()
      .notNull()
      .references(() => tenants.id),
    name: text().notNull(),
    kind: text().$type<SecretStoreKind>().notNull(),
    /** Origin only, `https://vault.example.org:8200`. */
    address: text().notNull(),
    /** VAULT only. */
    namespace: text(),
    /** VAULT only: mount path of its KV engine, version 2. */
    mount: text(),
    auth: text().$type<SecretStoreAuth>().notNull(),
    /** APP_ROLE only; not secret by itself. */
    roleId: text(),
    /** AWS_SECRETS_MANAGER only: for example `eu-central-1`. */
    region: text(),
    /** ACCESS_KEY only; not secret by itself. */
    accessKeyId: text(),
    /** The encrypted token, secret ID of the role, or secret access key. */
    encrypted: jsonb().$type<{ secret?: string }>().notNull().default(sql`'{}'::jsonb`),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (t) => [unique().on(t.tenantId, t.name)],
)

export type SecretStore = typeof secretStores.$inferSelect
/** Location of a value in a secret store: a path below the mount, and a key of the secret there. */
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
    /**
     * BASTION, GIT, SALT and SLURMRESTD: address and port; null port on GIT: the scheme's default. BASTION only: the bastion in front
     * of it, if any.
     */
    host: text(),
    port: integer(),
    viaId: uuid().references((): AnyPgColumn => credentials.id),
    /** BASTION and GIT: pinned host key as `type base64`. BASTION only: the one last offered but not yet approved. */
    hostKey: text(),
    hostKeyApprovedAt: at(),
    offeredHostKey: text(),
    /** SSH_PASSWORD, BECOME and BMC: hosts to which the password may be sent (see allowed-hosts.ts); no entry allows none. */
    allowedHosts: text().array().notNull().default(sql`'{}'::text[]`),
    /** Public half of a private key in OpenSSH format, so that users can identify and install it. */
    publicKey: text(),
    /** Field name -> encrypted record (see encryption.ts). */
    encrypted: jsonb().$type<Partial<Record<SecretField, string>>>().notNull().default(sql`'{}'::jsonb`),
    /** Fields with values in a secret store instead. */
    secretStoreId: uuid().references(() => secretStores.id),
    secretRefs: jsonb().$type<Partial<Record<SecretField, SecretRef>>>().notNull().default(sql`'{}'::jsonb`),
    lastUsedAt: at(),
    /** Time of the last connection test that reached this login, and why it failed (null: it succeeded). */
    lastResultAt: at(),
    lastResultError: text(),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (t) => [unique().on(t.tenantId, t.name), index().on(t.viaId), index().on(t.secretStoreId)],
)

export type Credential = typeof credentials.$inferSelect

/**
 * One row per key version. Master password and salt derive its key-encryption key. After a change of password, the derived key
 * decrypts `wrapped`, which contains the original key.
 */
export const credentialKeys = snakeCase.table('credential_keys', {
  version: integer().primaryKey(),
  salt: text().notNull(),
  wrapped: text(),
  /** An encrypted known value. It reveals a wrong master password at start, before the first run. */
  proof: text().notNull(),
  createdAt: createdAt(),
})

/** Rows with records that could not be re-encrypted with a key version. An entry is valid until that row changes. */
export const reencryptFailures = snakeCase.table('reencrypt_failures', {
  objectId: uuid().primaryKey(),
  tenantId: uuid()
    .notNull()
    .references(() => tenants.id),
  keyVersion: integer().notNull(),
  reason: text().notNull(),
  failedAt: createdAt(),
})
