import { sql } from 'drizzle-orm'
import {
  type AnyPgColumn,
  bigint,
  boolean,
  index,
  integer,
  snakeCase,
  text,
  unique,
  uniqueIndex,
  uuid,
} from 'drizzle-orm/pg-core'
import { at, createdAt, id, updatedAt } from '../kernel/db/columns.ts'

/** How two dictionaries of one variable combine across layers: the higher layer replaces the lower, or they merge deeply. */
export const VAR_MERGES = ['replace', 'deep'] as const
export type VarMerge = (typeof VAR_MERGES)[number]

/** The column `<verb>ById`; `actorColumns` in kernel/context.ts gives its value. */
export const userRef = () => uuid().references(() => users.id, { onDelete: 'set null' })

export const tenants = snakeCase.table('tenants', {
  id: id(),
  name: text().notNull().unique(),
  varMerge: text().$type<VarMerge>().notNull().default('replace'),
  /** Limit of concurrent runs over all workers. Null: no limit. */
  maxConcurrentRuns: integer(),
  /** Limit of nodes that are not decommissioned. Null: no limit. */
  maxNodes: integer(),
  /** Since when no run starts; null when the queue is not paused. */
  queuePausedAt: at(),
  queuePausedById: userRef(),
  queuePausedByName: text(),
  queuePauseReason: text(),
  /** Days after a run's end until its log, its artifacts and the run are deleted. Null: never. */
  logRetentionDays: integer(),
  artifactRetentionDays: integer(),
  runRetentionDays: integer(),
  /** Days until entries of the audit log are deleted. Null: never. */
  auditRetentionDays: integer(),
  /** Minutes after which members confirm their identity for sensitive changes. Null: never. */
  stepUpMinutes: integer(),
  /** Number of the newest run; `job_runs.number` counts from 1 per tenant. */
  lastRunNumber: integer().notNull().default(0),
  /** Since when members and tokens have no access and no run starts; null while the tenant is active. */
  suspendedAt: at(),
  suspendedById: userRef(),
  suspendedByName: text(),
  /** Since when a worker deletes the tenant with all its data; null unless deletion was requested. */
  deletedAt: at(),
  deletedById: userRef(),
  deletedByName: text(),
  createdAt: createdAt(),
})

export type Tenant = typeof tenants.$inferSelect

/** Whether a passkey stays on one device or can be synchronized, in the words of WebAuthn. */
export type PasskeyDeviceType = 'singleDevice' | 'multiDevice'

// The tables below have the shape that better-auth expects of its drizzle adapter.
export const users = snakeCase.table('users', {
  id: id(),
  name: text().notNull(),
  email: text().notNull().unique(),
  emailVerified: boolean().notNull().default(false),
  /** Holds the permissions of the installation, independent of roles in tenants. */
  isInstallationAdmin: boolean().notNull().default(false),
  image: text(),
  /** An account for programs: it cannot sign in and only owns API tokens. Belongs to one tenant. */
  isServiceAccount: boolean().notNull().default(false),
  /** Whether sign-in with a password also needs a code of an authenticator app. */
  twoFactorEnabled: boolean().notNull().default(false),
  createdAt: createdAt(),
  updatedAt: updatedAt(),
})

export type User = typeof users.$inferSelect

/** Protocols of identity providers, by their account's `providerId`. */
export const IDENTITY_PROVIDERS = ['oidc', 'ldap'] as const
export type IdentityProvider = (typeof IDENTITY_PROVIDERS)[number]

export const sessions = snakeCase.table(
  'sessions',
  {
    id: id(),
    userId: uuid()
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    /** SHA-256 of the session token, see `hashToken`. better-auth calls the field `token`. */
    token: text('token_hash').notNull().unique(),
    /** False until the audit log has the sign-in, which `recordSignIn` writes: the session is not accepted before. */
    isActive: boolean().notNull().default(false),
    /** Absolute end. A session also ends when it is not used for `SESSION_IDLE_HOURS`. */
    expiresAt: at().notNull(),
    /** Last use, with a precision of one minute, and the client's address and browser at that time. */
    lastUsedAt: at().notNull().defaultNow(),
    ipAddress: text(),
    userAgent: text(),
    /** Identity provider at which the session began; null for others. See `findMemberships`. */
    provider: text().$type<IdentityProvider>(),
    /** Last proof of identity: the sign-in, or a later confirmation. */
    authenticatedAt: at().notNull().defaultNow(),
    /** Tenant in which the user works. Null, or without an active membership: the tenant joined first. */
    activeTenantId: uuid().references(() => tenants.id, { onDelete: 'set null' }),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (t) => [index().on(t.userId)],
)

export const accounts = snakeCase.table(
  'accounts',
  {
    id: id(),
    userId: uuid()
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    accountId: text().notNull(),
    providerId: text().notNull(),
    accessToken: text(),
    refreshToken: text(),
    idToken: text(),
    accessTokenExpiresAt: at(),
    refreshTokenExpiresAt: at(),
    scope: text(),
    password: text(),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (t) => [index().on(t.userId), unique().on(t.providerId, t.accountId)],
)

export const verifications = snakeCase.table(
  'verifications',
  {
    id: id(),
    identifier: text().notNull(),
    value: text().notNull(),
    expiresAt: at().notNull(),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (t) => [index().on(t.identifier), index().on(t.expiresAt)],
)

/** Secret of a user's authenticator app and the unused recovery codes, both encrypted by better-auth. */
export const twoFactors = snakeCase.table('two_factors', {
  id: id(),
  userId: uuid()
    .notNull()
    .unique()
    .references(() => users.id, { onDelete: 'cascade' }),
  secret: text().notNull(),
  backupCodes: text().notNull(),
  /** False until the user has entered the first code. */
  verified: boolean().notNull().default(false),
  failedVerificationCount: integer().notNull().default(0),
  lockedUntil: at(),
})

/** A WebAuthn credential with which its user signs in. The columns before `lastUsedAt` are those of better-auth's plugin. */
export const passkeys = snakeCase.table(
  'passkeys',
  {
    id: id(),
    userId: uuid()
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    name: text().notNull(),
    credentialID: text('credential_id').notNull().unique(),
    publicKey: text().notNull(),
    /** Signatures that the authenticator has made, or 0. A signature with a lower count is rejected: the passkey was cloned. */
    counter: bigint({ mode: 'number' }).notNull(),
    deviceType: text().$type<PasskeyDeviceType>().notNull(),
    /** Whether a copy exists, for example in a password manager. */
    backedUp: boolean().notNull(),
    /** Comma-separated. */
    transports: text(),
    /** Identifies the model of the authenticator; zeros when it does not say. */
    aaguid: text(),
    createdAt: createdAt(),
    lastUsedAt: at(),
  },
  (t) => [index().on(t.userId)],
)

/** Sign-in of a program that a person approves in the console, see `startDeviceSignIn`. */
export const deviceAuthorizations = snakeCase.table(
  'device_authorizations',
  {
    id: id(),
    deviceCodeHash: text().notNull().unique(),
    userCodeHash: text().notNull().unique(),
    clientName: text().notNull(),
    clientAddress: text().notNull(),
    tokenName: text().notNull(),
    /** Null until approved when the program asks for no role. */
    role: text(),
    isInstallationAdmin: boolean().notNull(),
    /** Null: the program asks for no tenant. */
    tenantName: text(),
    /** Lifetime of the token; null for the default. */
    expiresInSeconds: integer(),
    intervalSeconds: integer().notNull(),
    lastPolledAt: at(),
    expiresAt: at().notNull(),
    decidedAt: at(),
    isApproved: boolean(),
    /** Who decided, and for which tenant. */
    userId: uuid().references(() => users.id, { onDelete: 'cascade' }),
    approvedTenantId: uuid().references(() => tenants.id, { onDelete: 'cascade' }),
    createdAt: createdAt(),
  },
  (t) => [index().on(t.userId), index().on(t.approvedTenantId)],
)

export type DeviceAuthorization = typeof deviceAuthorizations.$inferSelect

/** Sign-in attempts per client address and account within a time window, see `createThrottle` of the API. */
export const signInAttempts = snakeCase.table('sign_in_attempts', {
  key: text().primaryKey(),
  count: integer().notNull(),
  endsAt: at().notNull(),
})

/**
 * Custom roles. Members, invitations, API tokens and grants name a role; the name is one of these or of a built-in role, and never
 * changes.
 */
export const roles = snakeCase.table(
  'roles',
  {
    id: id(),
    tenantId: uuid()
      .notNull()
      .references(() => tenants.id),
    name: text().notNull(),
    description: text().notNull().default(''),
    /** Names of permissions. A name that no longer exists has no effect. */
    permissions: text().array().notNull(),
    createdById: userRef(),
    createdByName: text().notNull(),
    createdAt: createdAt(),
    updatedAt: updatedAt(),
  },
  (t) => [unique().on(t.tenantId, t.name)],
)

export type CustomRole = typeof roles.$inferSelect

export const members = snakeCase.table(
  'members',
  {
    id: id(),
    tenantId: uuid()
      .notNull()
      .references(() => tenants.id),
    userId: uuid()
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    role: text().notNull(),
    /**
     * Identity provider that sets role and suspension from the user's groups at each sign-in; null for members whom a person added.
     * Unless the member is an owner, the membership is active only in sessions that began at the provider.
     */
    provider: text().$type<IdentityProvider>(),
    /** Since when the user has no access to the tenant; null while the member is active. */
    suspendedAt: at(),
    suspendedById: userRef(),
    suspendedByName: text(),
    createdAt: createdAt(),
  },
  (t) => [unique().on(t.userId, t.tenantId), index().on(t.tenantId)],
)

export type Member = typeof members.$inferSelect

/** An invitation to become a member. Its token is shown or sent once; only its SHA-256 is stored. */
export const invitations = snakeCase.table(
  'invitations',
  {
    id: id(),
    tenantId: uuid()
      .notNull()
      .references(() => tenants.id),
    /** Lower case. */
    email: text().notNull(),
    role: text().notNull(),
    hash: text().notNull().unique(),
    createdById: userRef(),
    createdByName: text().notNull(),
    expiresAt: at().notNull(),
    acceptedAt: at(),
    acceptedById: userRef(),
    revokedAt: at(),
    revokedById: userRef(),
    revokedByName: text(),
    createdAt: createdAt(),
  },
  (t) => [
    index().on(t.tenantId),
    uniqueIndex('invitations_open_email').on(t.tenantId, t.email).where(sql`accepted_at is null and revoked_at is null`),
  ],
)

export type Invitation = typeof invitations.$inferSelect

/**
 * A token is shown once; only its SHA-256 is stored. It works while its owner is an active member, with at most the permissions that the
 * owner has now.
 */
export const apiTokens = snakeCase.table(
  'api_tokens',
  {
    id: id(),
    tenantId: uuid()
      .notNull()
      .references(() => tenants.id),
    name: text().notNull(),
    role: text().notNull(),
    /** Of the permissions of the role, those that the token has. Null: all. */
    permissions: text().array(),
    /** The token has permissions, other than to read, only for nodes of these groups. Empty: in the whole tenant. */
    groupIds: uuid().array().notNull().default(sql`'{}'`),
    /** Holds the permissions of the installation while its creator holds them. */
    isInstallationAdmin: boolean().notNull().default(false),
    /** First characters of the token, which identify it in lists. */
    prefix: text().notNull(),
    hash: text().notNull().unique(),
    ownerId: uuid()
      .notNull()
      .references(() => users.id, { onDelete: 'cascade' }),
    /** The token that created this one. Its revocation revokes this one. */
    parentId: uuid().references((): AnyPgColumn => apiTokens.id, { onDelete: 'cascade' }),
    /** Networks from which the token is accepted, such as 10.0.0.0/8. Empty: from everywhere. */
    networks: text().array().notNull().default(sql`'{}'`),
    createdById: userRef(),
    createdByName: text().notNull(),
    expiresAt: at().notNull(),
    lastUsedAt: at(),
    lastUsedAddress: text(),
    revokedAt: at(),
    revokedById: userRef(),
    revokedByName: text(),
    createdAt: createdAt(),
  },
  (t) => [index().on(t.tenantId), index().on(t.ownerId), index().on(t.parentId)],
)

export type ApiToken = typeof apiTokens.$inferSelect
