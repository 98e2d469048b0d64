import { visibleTo } from '@muster/core/db'
import { ledgerPermissions, proveLedgerConsistency, proveLedgerEntry, readLedgerSettings } from '@muster/core/ledger'
import { schema } from '@muster/core/registry'
import { and, eq, gte, sql } from 'drizzle-orm'
import { builder } from '../../builder.ts'
import { PAGED } from '../shared/connections.ts'
import { rowIdIfGiven } from '../shared/ids.ts'
import { Ledger, LedgerEntry, LedgerProof, ledgerEntryConnection } from './types.ts'

const { ledgerEntries } = schema

const LedgerEntryFilter = builder.inputType('LedgerEntryFilter', {
  description: 'Conditions on entries of the ledger; an entry must meet all of them.',
  fields: (t) => ({
    nodeId: t.id({ description: 'Entries of this node.' }),
    fromSeq: t.field({ type: 'BigInt', description: 'Entries at this position or later.' }),
  }),
})

function conditions(filter: typeof LedgerEntryFilter.$inferInput | null | undefined, e: typeof ledgerEntries) {
  const nodeId = rowIdIfGiven('ComputeNode', filter?.nodeId)
  return and(nodeId ? eq(e.nodeId, nodeId) : undefined, filter?.fromSeq == null ? undefined : gte(e.seq, Number(filter.fromSeq)))
}

builder.queryFields((t) => ({
  ledger: t.field({
    type: Ledger,
    description: 'Settings and state of the ledger of node metadata.',
    authScopes: { permission: ledgerPermissions.read },
    resolve: (_root, _args, { ctx }) => readLedgerSettings(ctx.db, ctx.tenantId),
  }),
  ledgerEntries: t.drizzleConnection(
    {
      type: LedgerEntry,
      description: 'Entries of the ledger, oldest first.',
      authScopes: { permission: ledgerPermissions.read },
      args: { filter: t.arg({ type: LedgerEntryFilter, description: 'Conditions. Default: all entries.' }) },
      ...PAGED,
      totalCount: (_root, { filter }, { ctx }) =>
        ctx.db.$count(ledgerEntries, and(visibleTo(ctx, ledgerEntries), conditions(filter, ledgerEntries))),
      resolve: (query, _root, { filter }, { ctx }) =>
        ctx.db.query.ledgerEntries.findMany(
          query({
            where: { tenantId: ctx.tenantId, RAW: (e) => conditions(filter, e) ?? sql`true` },
            orderBy: { seq: 'asc' },
          }),
        ),
    },
    ...ledgerEntryConnection,
  ),
  ledgerProof: t.field({
    type: LedgerProof,
    description: 'Proves that a checkpoint of the ledger covers an entry (RFC 6962, section 2.1.1).',
    authScopes: { permission: ledgerPermissions.read },
    args: {
      seq: t.arg({ type: 'BigInt', required: true, description: 'Position of the entry.' }),
      size: t.arg({ type: 'BigInt', description: 'Size of the checkpoint. Default: the newest one.' }),
    },
    resolve: (_root, { seq, size }, { ctx }) => proveLedgerEntry(ctx, Number(seq), size == null ? null : Number(size)),
  }),
  ledgerConsistencyProof: t.field({
    type: LedgerProof,
    description: 'Proves that a checkpoint of the ledger has all entries of an earlier one (RFC 6962, section 2.1.2).',
    authScopes: { permission: ledgerPermissions.read },
    args: {
      oldSize: t.arg({ type: 'BigInt', required: true, description: 'Size of the earlier checkpoint, at least 1.' }),
      size: t.arg({ type: 'BigInt', description: 'Size of the later checkpoint. Default: the newest one.' }),
    },
    resolve: (_root, { oldSize, size }, { ctx }) =>
      proveLedgerConsistency(ctx, Number(oldSize), size == null ? null : Number(size)),
  }),
}))
