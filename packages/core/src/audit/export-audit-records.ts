import { and, asc, desc, eq, gt, lte } from 'drizzle-orm'
import { authorize, type Ctx } from '../kernel/context.ts'
import type { Db } from '../kernel/db/client.ts'
import { CHAIN_COLUMNS, type ChainRow, verificationKey } from './chain.ts'
import { auditPermissions, installationAuditPermissions } from './permissions.ts'
import { inChain } from './seal-audit-entries.ts'
import { type AuditCheckpoint, auditCheckpoints, auditEntries } from './tables.ts'

const BATCH = 1000

/** A line of an export: a key that verifies checkpoints, a row as it is hashed with its `hash`, or a checkpoint. */
export type AuditRecord = { type: 'key' | 'entry' | 'checkpoint' } & Record<string, unknown>

type Options = {
  /** Position in the chain after which it starts. */
  after?: number
  /** A database that shows the rows of the installation: exports their chain in place of the tenant's. */
  installation?: Db | undefined
}

/**
 * Reads the sealed rows of the tenant or the installation in the order of the chain, and the checkpoints between them. First come the
 * keys that verify the checkpoints.
 */
export function exportAuditRecords(ctx: Ctx, { after = 0, installation }: Options = {}): AsyncGenerator<AuditRecord> {
  authorize(ctx, installation ? installationAuditPermissions.read : auditPermissions.read)
  const { vault } = ctx
  return installation
    ? readRecords({ db: installation, vault, tenantId: null }, after)
    : readRecords({ db: ctx.db, vault, tenantId: ctx.tenantId }, after)
}

type Chain = Pick<Ctx, 'vault'> & { db: Db; tenantId: string | null }

async function* readRecords({ db, vault, tenantId }: Chain, after: number): AsyncGenerator<AuditRecord> {
  const versions = await db
    .selectDistinct({ version: auditCheckpoints.keyVersion })
    .from(auditCheckpoints)
    .where(inChain(auditCheckpoints, tenantId))
  for (const { version } of versions) yield { type: 'key', version, publicKey: await verificationKey(vault, version) }
  const [pruned] = await db
    .select()
    .from(auditCheckpoints)
    .where(and(inChain(auditCheckpoints, tenantId), eq(auditCheckpoints.kind, 'prune')))
    .orderBy(desc(auditCheckpoints.seq))
    .limit(1)
  // The hash before the first row that retention left.
  if (pruned && pruned.seq > after) yield checkpointRecord(pruned)
  for (let seq = after; ; ) {
    const rows = (await db
      .select(CHAIN_COLUMNS)
      .from(auditEntries)
      .where(and(inChain(auditEntries, tenantId), gt(auditEntries.seq, seq)))
      .orderBy(asc(auditEntries.seq))
      .limit(BATCH)) as (ChainRow & { seq: number })[]
    const last = rows.at(-1)?.seq
    if (last === undefined) return
    const checkpoints = await db
      .select()
      .from(auditCheckpoints)
      .where(
        and(
          inChain(auditCheckpoints, tenantId),
          eq(auditCheckpoints.kind, 'seal'),
          gt(auditCheckpoints.seq, seq),
          lte(auditCheckpoints.seq, last),
        ),
      )
    const bySeq = new Map(checkpoints.map((checkpoint) => [checkpoint.seq, checkpoint]))
    for (const row of rows) {
      yield { type: 'entry', ...row }
      const checkpoint = bySeq.get(row.seq)
      if (checkpoint) yield checkpointRecord(checkpoint)
    }
    seq = last
  }
}

function checkpointRecord({ id: _id, createdAt, ...signed }: AuditCheckpoint): AuditRecord {
  return { type: 'checkpoint', ...signed, createdAt }
}
