import { and, eq, isNull, sql } from 'drizzle-orm'
import { index, integer, jsonb, snakeCase, text, unique, uniqueIndex, uuid } from 'drizzle-orm/pg-core'
import { tenants, userRef } from '../access/tables.ts'
import { credentials, type SecretField } from '../credentials/tables.ts'
import { at, createdAt, id } from '../kernel/db/columns.ts'
import { computeNodes } from '../nodes/tables.ts'

export const ROTATION_STATUSES = ['RUNNING', 'PAUSED', 'CANCELING', 'SUCCEEDED', 'PARTIAL', 'CANCELED'] as const
export type RotationStatus = (typeof ROTATION_STATUSES)[number]
export const ROTATION_HOST_STATUSES = ['PENDING', 'INSTALLED', 'DONE', 'FAILED', 'RESTORED'] as const
export type RotationHostStatus = (typeof ROTATION_HOST_STATUSES)[number]

/** Rotations: each replaces the secret of a credential on the nodes that use it. */
export const credentialRotations = snakeCase.table(
  'credential_rotations',
  {
    id: id(),
    tenantId: uuid()
      .notNull()
      .references(() => tenants.id),
    credentialId: uuid()
      .notNull()
      .references(() => credentials.id, { onDelete: 'cascade' }),
    /** Name of the credential. */
    name: text().notNull(),
    /** The new secret, encrypted for this row; empty at the end. */
    encrypted: jsonb().$type<Partial<Record<SecretField, string>>>().notNull().default(sql`'{}'::jsonb`),
    /** SSH_KEY only: the new and the previous public key in authorized_keys format. */
    publicKey: text(),
    previousPublicKey: text(),
    /** Token of the execution that has claimed the rotation, and when it last renewed its claim. */
    claimToken: text(),
    touchedAt: at(),
    /** Since when the rotation waits for a decision, because hosts failed. */
    pausedAt: at(),
    /** When a user requested to complete the rotation without the failed nodes. */
    completeRequestedAt: at(),
    /** When a user requested to restore the previous secret on all hosts. */
    cancelRequestedAt: at(),
    /** When the credential got the new secret. */
    switchedAt: at(),
    finishedAt: at(),
    /** Number of failed hosts at the end. */
    failedCount: integer().notNull().default(0),
    /** Credential with the previous secret, for the failed nodes. */
    leftCredentialId: uuid().references(() => credentials.id, { onDelete: 'set null' }),
    createdById: userRef(),
    createdByName: text().notNull(),
    createdAt: createdAt(),
    status: text()
      .$type<RotationStatus>()
      .notNull()
      .generatedAlwaysAs(
        sql`case when finished_at is not null then case when switched_at is null then 'CANCELED' when failed_count > 0 then 'PARTIAL' else 'SUCCEEDED' end
          when paused_at is not null then 'PAUSED' when cancel_requested_at is not null then 'CANCELING' else 'RUNNING' end`,
      ),
  },
  (t) => [
    index().on(t.tenantId, t.id),
    uniqueIndex('credential_rotations_one_unfinished').on(t.credentialId).where(sql`finished_at is null`),
  ],
)

export type CredentialRotation = typeof credentialRotations.$inferSelect

/** Condition: the unfinished rotation of a credential. */
export const unfinishedOf = (ctx: { tenantId: string }, credentialId: string) =>
  and(
    eq(credentialRotations.tenantId, ctx.tenantId),
    eq(credentialRotations.credentialId, credentialId),
    isNull(credentialRotations.finishedAt),
  )

/** Progress of a rotation on one node. */
export const credentialRotationHosts = snakeCase.table(
  'credential_rotation_hosts',
  {
    id: id(),
    tenantId: uuid()
      .notNull()
      .references(() => tenants.id),
    rotationId: uuid()
      .notNull()
      .references(() => credentialRotations.id, { onDelete: 'cascade' }),
    nodeId: uuid()
      .notNull()
      .references(() => computeNodes.id, { onDelete: 'cascade' }),
    /** Since when the node may have the new secret. */
    attemptedAt: at(),
    /** Since when a login with the new secret is known to succeed. */
    installedAt: at(),
    /** Since when the previous secret is no longer accepted. */
    doneAt: at(),
    /** Since when the node has the previous secret again, after a cancellation. */
    restoredAt: at(),
    /** Since when a step changes which secret the node accepts. Runs that start on the node wait for its end. */
    changingSince: at(),
    /** Why the last attempt failed, with the next step. */
    error: text(),
    updatedAt: createdAt(),
    status: text()
      .$type<RotationHostStatus>()
      .notNull()
      .generatedAlwaysAs(
        sql`case when error is not null then 'FAILED' when restored_at is not null then 'RESTORED' when done_at is not null then 'DONE'
          when installed_at is not null then 'INSTALLED' else 'PENDING' end`,
      ),
  },
  (t) => [unique().on(t.rotationId, t.nodeId), index().on(t.nodeId)],
)

export type CredentialRotationHost = typeof credentialRotationHosts.$inferSelect

/** Secrets of a rotation as the worker decrypted them. */
export type RotationSecrets = Record<'next' | 'previous', { privateKey?: string; passphrase?: string; password?: string }>
