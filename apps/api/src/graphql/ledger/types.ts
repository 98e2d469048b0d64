import { permissionDeniedReason } from '@muster/core/context'
import { isOneOf, visibleTo } from '@muster/core/db'
import {
  ledgerPermissions,
  ledgerVerifierKeys,
  newestCheckpoint,
  type LedgerProof as Proof,
  type LedgerSink as Sink,
} from '@muster/core/ledger'
import { schema } from '@muster/core/registry'
import { and, desc, eq } from 'drizzle-orm'
import { builder } from '../../builder.ts'
import { ComputeNode } from '../nodes/types.ts'
import { connectionTypes } from '../shared/connections.ts'
import { loader } from '../shared/loaders.ts'

const { computeNodes, ledgerNodes, ledgerReceipts, ledgerSinks } = schema

type Settings = { isEnabled: boolean; intervalSeconds: number; maxAgeSeconds: number; recordedAt: Date | null }

export const Ledger = builder.objectRef<Settings>('Ledger').implement({
  description:
    'The ledger of node metadata of the tenant: an append-only log, as a Merkle tree of RFC 6962 with signed checkpoints. It shows what Muster knew about each node at which time, and that nobody changed it since.',
  fields: (t) => ({
    isEnabled: t.exposeBoolean('isEnabled', { description: 'Whether workers record nodes. Entries remain when it is disabled.' }),
    intervalSeconds: t.exposeInt('intervalSeconds', { description: 'Time between batches. A node is in a batch at most once.' }),
    maxAgeSeconds: t.exposeInt('maxAgeSeconds', {
      description: 'Time after which a node is recorded again when only its measurements and its last sequence changed.',
    }),
    recordedAt: t.expose('recordedAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the last batch was recorded, also one without changes; null before the first one.',
    }),
    checkpoint: t.field({
      type: LedgerCheckpoint,
      nullable: true,
      description: 'The newest checkpoint; null before the first entry.',
      resolve: async (_ledger, _args, { ctx }) => (await newestCheckpoint(ctx.db, ctx.tenantId)) ?? null,
    }),
    verifierKeys: t.stringList({
      description:
        'Public keys of the checkpoints, oldest first, as verifier keys of signed notes; at most 500. Keep them outside of Muster: then a verification does not depend on it.',
      resolve: (_ledger, _args, { ctx }) => ledgerVerifierKeys(ctx),
    }),
    sink: t.field({
      type: LedgerSink,
      nullable: true,
      description: 'The chain that gets the entries; null when there is none.',
      resolve: async (_ledger, _args, { ctx }) => {
        const [sink] = await ctx.db.select().from(ledgerSinks).where(visibleTo(ctx, ledgerSinks))
        return sink ?? null
      },
    }),
    updateBlockedReason: t.string({
      nullable: true,
      description: 'Why the caller cannot change the settings; null when allowed.',
      resolve: (_ledger, _args, { ctx }) => permissionDeniedReason(ctx.actor, ledgerPermissions.write),
    }),
  }),
})

export const LedgerCheckpoint = builder.objectRef<{ size: number; note: string; createdAt: Date }>('LedgerCheckpoint').implement({
  description: 'A signed tree head of the ledger.',
  fields: (t) => ({
    size: t.expose('size', { type: 'BigInt', description: 'Number of entries that it covers.' }),
    note: t.exposeString('note', {
      description:
        'Origin, size, root hash in base64 and time, with an Ed25519 signature: a signed note in the checkpoint format of transparency logs (c2sp.org/tlog-checkpoint).',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was signed.' }),
  }),
})

const LedgerReceipt = builder
  .objectRef<{ transactionHash: string; height: number; fromSize: number; toSize: number; createdAt: Date }>('LedgerReceipt')
  .implement({
    description: 'A transaction with entries of the ledger that a chain included.',
    fields: (t) => ({
      transactionHash: t.exposeString('transactionHash', { description: 'SHA-256 of the transaction, in upper case.' }),
      height: t.expose('height', { type: 'BigInt', description: 'Height of the block.' }),
      fromSize: t.expose('fromSize', { type: 'BigInt', description: 'Number of entries that the chain had before.' }),
      toSize: t.expose('toSize', { type: 'BigInt', description: 'Number of entries that it had afterwards.' }),
      createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When Muster saw the block.' }),
    }),
  })

export const LedgerSink = builder.objectRef<Sink>('LedgerSink').implement({
  description:
    'A chain of the Cosmos SDK that gets the entries of the ledger: a transaction with one MsgUpdateNodeMetadata per node, with its latest values. At least once and in order.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Name.' }),
    origin: t.exposeString('origin', { description: 'Scheme and host of the CometBFT RPC.' }),
    chainId: t.exposeString('chainId', { description: 'ID of the chain.' }),
    addressPrefix: t.exposeString('addressPrefix', { description: 'Prefix of the addresses of the chain.' }),
    address: t.exposeString('address', {
      nullable: true,
      description: 'Address of the account that signs and pays; null before the first transaction.',
    }),
    providerAddress: t.exposeString('providerAddress', {
      nullable: true,
      description: '`provider_address` of the messages; null: the address of the account.',
    }),
    typeUrl: t.exposeString('typeUrl', { description: 'Type URL of the messages.' }),
    feeDenom: t.exposeString('feeDenom', { description: 'Denomination of the fee.' }),
    feePerNode: t.expose('feePerNode', { type: 'BigInt', description: 'Fee for each message, in units of `feeDenom`.' }),
    gasPerNode: t.exposeInt('gasPerNode', { description: 'Gas limit for each message.' }),
    isEnabled: t.exposeBoolean('isEnabled', { description: 'Whether entries are delivered.' }),
    deliveredSize: t.expose('deliveredSize', {
      type: 'BigInt',
      description: 'Number of entries, from the first one, that the chain has.',
    }),
    deliveredAt: t.expose('deliveredAt', {
      type: 'DateTime',
      nullable: true,
      description: 'When the chain last included entries; null before.',
    }),
    failingSince: t.expose('failingSince', {
      type: 'DateTime',
      nullable: true,
      description: 'Since when deliveries fail; null when the last one succeeded.',
    }),
    lastError: t.exposeString('lastError', {
      nullable: true,
      description: 'Why the last delivery failed; null when it succeeded.',
    }),
    receipts: t.field({
      type: [LedgerReceipt],
      description: 'The last transactions, newest first; at most 20.',
      resolve: ({ id }, _args, { ctx }) =>
        ctx.db
          .select()
          .from(ledgerReceipts)
          .where(and(visibleTo(ctx, ledgerReceipts), eq(ledgerReceipts.sinkId, id)))
          .orderBy(desc(ledgerReceipts.id))
          .limit(20),
    }),
  }),
})

export const LedgerProof = builder.objectRef<Proof>('LedgerProof').implement({
  description: 'A proof against a checkpoint of the ledger.',
  fields: (t) => ({
    size: t.expose('size', { type: 'BigInt', description: 'Number of entries of the checkpoint.' }),
    checkpoint: t.exposeString('checkpoint', { description: 'The checkpoint, a signed note.' }),
    hashes: t.stringList({
      description: 'Hashes in base64, in the order of RFC 6962; at most 106.',
      resolve: ({ hashes }) => hashes.map((hash) => hash.toString('base64')),
    }),
  }),
})

const nodeOf = loader<{ id: string }>(async ({ ctx }, ids) => {
  const rows = await ctx.db
    .select({ id: computeNodes.id })
    .from(computeNodes)
    .where(and(visibleTo(ctx, computeNodes), isOneOf(computeNodes.id, [...ids])))
  return new Map(rows.map((row) => [row.id, row]))
})

export const LedgerEntry = builder.drizzleObject('ledgerEntries', {
  name: 'LedgerEntry',
  description: 'An entry of the ledger: the metadata of a node at one time. It never changes.',
  select: { columns: { tenantId: true, seq: true, nodeId: true } },
  fields: (t) => ({
    seq: t.expose('seq', { type: 'BigInt', description: 'Position, from 0.' }),
    nodeName: t.exposeString('nodeName', { description: 'Name of the node at that time.' }),
    node: t.field({
      type: ComputeNode,
      nullable: true,
      description: 'The node; null when it was purged.',
      resolve: async ({ nodeId }, _args, context) => ((await nodeOf(context, nodeId)) ?? null) as never,
    }),
    record: t.exposeString('record', {
      description:
        'The metadata as canonical JSON (RFC 8785). The leaf hash of the entry is the SHA-256 of a zero byte and these bytes in UTF-8.',
    }),
    createdAt: t.expose('createdAt', { type: 'DateTime', description: 'When it was recorded.' }),
  }),
})
export const ledgerEntryConnection = connectionTypes(LedgerEntry, 'LedgerEntry', 'ledger entries')

const LedgerSubmission = builder.objectRef<{ seq: number; recordedAt: Date }>('LedgerSubmission').implement({
  description: 'The last entry of a node in the ledger.',
  fields: (t) => ({
    seq: t.expose('seq', { type: 'BigInt', description: 'Position of the entry.' }),
    recordedAt: t.expose('recordedAt', { type: 'DateTime', description: 'When it was recorded.' }),
  }),
})

const submissionOf = loader<{ seq: number; recordedAt: Date }>(async ({ ctx }, ids) => {
  const rows = await ctx.db
    .select()
    .from(ledgerNodes)
    .where(and(visibleTo(ctx, ledgerNodes), isOneOf(ledgerNodes.nodeId, [...ids])))
  return new Map(rows.map((row) => [row.nodeId, row]))
})

builder.drizzleObjectField(ComputeNode, 'ledgerSubmission', (t) =>
  t.field({
    type: LedgerSubmission,
    nullable: true,
    description: 'The last entry of the node in the ledger; null when it has none.',
    select: { columns: { id: true } },
    resolve: async ({ id }, _args, context) => (await submissionOf(context, id)) ?? null,
  }),
)
