import { sql } from 'drizzle-orm'
import { bigint, boolean, customType, index, integer, jsonb, primaryKey, snakeCase, text, uuid } from 'drizzle-orm/pg-core'
import { tenants } from '../access/tables.ts'
import { at, createdAt, id, updatedAt } from '../kernel/db/columns.ts'
import { computeNodes } from '../nodes/tables.ts'

const bytes = customType<{ data: Buffer }>({ dataType: () => 'bytea' })
const tenantId = () =>
  uuid()
    .notNull()
    .references(() => tenants.id)

/** Whether a tenant has a ledger. Without a row, `DEFAULT_LEDGER_SETTINGS` apply. */
export const ledgerSettings = snakeCase.table('ledger_settings', {
  tenantId: tenantId().primaryKey(),
  isEnabled: boolean().notNull(),
  /** Seconds between batches. A node is in a batch at most once. */
  intervalSeconds: integer().notNull(),
  /** Seconds after which a node is recorded again when only its measurements and its last sequence changed. */
  maxAgeSeconds: integer().notNull(),
  /** When the last batch was recorded, also one without changes. */
  recordedAt: at(),
  updatedAt: updatedAt(),
})
export type LedgerSettings = typeof ledgerSettings.$inferSelect

/** Append-only log of node metadata: the leaves of the Merkle tree of a tenant. Entries outlive their node. */
export const ledgerEntries = snakeCase.table(
  'ledger_entries',
  {
    tenantId: tenantId(),
    /** Position, from 0. */
    seq: bigint({ mode: 'number' }).notNull(),
    nodeId: uuid().notNull(),
    nodeName: text().notNull(),
    /** A NodeRecord in canonical JSON: the bytes that the leaf hash covers. */
    record: text().notNull(),
    createdAt: createdAt(),
  },
  (t) => [primaryKey({ columns: [t.tenantId, t.seq] }), index().on(t.tenantId, t.nodeId, t.seq)],
)
export type LedgerEntry = typeof ledgerEntries.$inferSelect

/** Hashes of the complete subtrees of each tenant's tree. `level` 0 has the leaf hashes. They never change. */
export const ledgerHashes = snakeCase.table(
  'ledger_hashes',
  {
    tenantId: tenantId(),
    level: integer().notNull(),
    index: bigint({ mode: 'number' }).notNull(),
    hash: bytes().notNull(),
  },
  (t) => [primaryKey({ columns: [t.tenantId, t.level, t.index] })],
)

/** A signed tree head per batch. */
export const ledgerCheckpoints = snakeCase.table(
  'ledger_checkpoints',
  {
    tenantId: tenantId(),
    /** Number of entries of the tree. */
    size: bigint({ mode: 'number' }).notNull(),
    /** The signed note, see @muster/ledger. */
    note: text().notNull(),
    /** Version of the encryption key from which the signing key is derived. */
    keyVersion: integer().notNull(),
    createdAt: createdAt(),
  },
  (t) => [primaryKey({ columns: [t.tenantId, t.size] })],
)
export type LedgerCheckpoint = typeof ledgerCheckpoints.$inferSelect

/** What the ledger has of each node: the outbox compares it with the node. */
export const ledgerNodes = snakeCase.table(
  'ledger_nodes',
  {
    nodeId: uuid()
      .primaryKey()
      .references(() => computeNodes.id, { onDelete: 'cascade' }),
    tenantId: tenantId(),
    /** Hash of the values that cause an entry when they change. */
    digest: text().notNull(),
    /** Position of the heartbeat in the last entry. */
    bootEpoch: bigint({ mode: 'number' }),
    sequence: bigint({ mode: 'number' }),
    /** Position of the last entry. */
    seq: bigint({ mode: 'number' }).notNull(),
    recordedAt: at().notNull(),
  },
  (t) => [index().on(t.tenantId)],
)
export type LedgerNode = typeof ledgerNodes.$inferSelect

/** The secret fields of a sink. The URL can contain a token of a provider. */
export const LEDGER_SINK_SECRETS = ['url', 'privateKey'] as const
export type LedgerSinkSecret = (typeof LEDGER_SINK_SECRETS)[number]

/** A chain of the Cosmos SDK that gets the entries as transactions. One per tenant; off without one. */
export const ledgerSinks = snakeCase.table('ledger_sinks', {
  id: id(),
  tenantId: tenantId().unique(),
  name: text().notNull(),
  /** Scheme and host of the CometBFT RPC. */
  origin: text().notNull(),
  chainId: text().notNull(),
  /** Human-readable part of the addresses of the chain. */
  addressPrefix: text().notNull(),
  /** Type URL of the message. */
  typeUrl: text().notNull(),
  /** Sent as `provider_address`; null: the address of the key. */
  providerAddress: text(),
  feeDenom: text().notNull(),
  /** In units of `feeDenom`, for each node of a transaction. */
  feePerNode: bigint({ mode: 'number' }).notNull(),
  gasPerNode: integer().notNull(),
  /** Field name -> encrypted record, as in credentials. */
  encrypted: jsonb().$type<Partial<Record<LedgerSinkSecret, string>>>().notNull().default(sql`'{}'::jsonb`),
  isEnabled: boolean().notNull(),
  /** Address of the key, from the first transaction on. */
  address: text(),
  /** Number of entries, from the first one, that the chain has. */
  deliveredSize: bigint({ mode: 'number' }).notNull(),
  deliveredAt: at(),
  /**
   * A signed transaction in base64 that was or will be sent, the account sequence in it, and the number of entries after it. It is
   * stored before it is sent: a repeat sends the same bytes, which a chain includes once.
   */
  pendingTransaction: text(),
  pendingSequence: bigint({ mode: 'number' }),
  pendingSize: bigint({ mode: 'number' }),
  leasedUntil: at(),
  leaseToken: uuid(),
  attempts: integer().notNull().default(0),
  failingSince: at(),
  lastError: text(),
  retryAt: at(),
  createdAt: createdAt(),
  updatedAt: updatedAt(),
})
export type LedgerSink = typeof ledgerSinks.$inferSelect

/** A transaction that the chain included. */
export const ledgerReceipts = snakeCase.table(
  'ledger_receipts',
  {
    id: id(),
    tenantId: tenantId(),
    sinkId: uuid()
      .notNull()
      .references(() => ledgerSinks.id, { onDelete: 'cascade' }),
    /** SHA-256 of the transaction in upper case, as chains show it. */
    transactionHash: text().notNull(),
    /** Block. */
    height: bigint({ mode: 'number' }).notNull(),
    /** Entries before and after it. */
    fromSize: bigint({ mode: 'number' }).notNull(),
    toSize: bigint({ mode: 'number' }).notNull(),
    createdAt: createdAt(),
  },
  (t) => [index().on(t.tenantId, t.id), index().on(t.sinkId, t.id)],
)
export type LedgerReceipt = typeof ledgerReceipts.$inferSelect
