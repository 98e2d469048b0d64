import { scheduler } from 'node:timers/promises'
import { and, asc, desc, eq, gt, isNull, lte, min, sql } from 'drizzle-orm'
import { authorize, type Ctx } from '../kernel/context.ts'
import type { Db } from '../kernel/db/client.ts'
import { CHAIN_COLUMNS, type ChainRow, chainHash, GENESIS, isSigned } from './chain.ts'
import { auditPermissions, installationAuditPermissions } from './permissions.ts'
import { inChain } from './seal-audit-entries.ts'
import { type AuditCheckpoint, auditCheckpoints, auditEntries } from './tables.ts'

export const CHAIN_PROBLEMS = ['changed', 'missing', 'duplicate', 'checkpoint', 'unsigned', 'pruned'] as const
/**
 * `changed`: a row or its hash was changed, or rows were exchanged. `missing`: no rows at these positions. `duplicate`: several rows
 * at one position. `checkpoint`: a checkpoint is not signed by this installation, or contradicts the row. `unsigned`: rows after the
 * last checkpoint. `pruned`: retention deleted the expected position, so that it cannot be compared.
 */
export type ChainProblem = {
  kind: (typeof CHAIN_PROBLEMS)[number]
  seq: number
  /** Last position of a range; equals `seq` for one row. */
  lastSeq: number
  /** The row, if it exists. */
  entryId: string | null
}

export type ChainVerification = {
  /** Position after which this part starts, and the last position in it. */
  after: number
  lastSeq: number
  /** Hash at `lastSeq`. */
  lastHash: string
  checkedCount: number
  /** Whether rows follow: continue with `after: lastSeq`. */
  hasMore: boolean
  /** In the order of positions, at most 100. */
  problems: ChainProblem[]
  /** Rows that are not part of the chain yet. Normally they are at most five seconds old. */
  unsealedCount: number
  oldestUnsealedAt: Date | null
}

const MAX_PROBLEMS = 100
const BATCH = 5000
/** Rows that are hashed before other requests of the process continue. */
const ROWS_PER_TURN = 500
export const MAX_VERIFY_ROWS = 50_000

type Options = {
  after?: number | null | undefined
  limit?: number | undefined
  /** A position and hash from an earlier verification: detects a replaced chain. */
  expected?: { seq: number; hash: string } | null | undefined
  /** A database that shows the rows of the installation: verifies their chain in place of the tenant's. */
  installation?: Db | undefined
}

/** Verifies a part of the chain of the tenant or the installation, from the oldest row that retention left. */
export async function verifyAuditChain(
  ctx: Ctx,
  { after, limit = MAX_VERIFY_ROWS, expected, installation }: Options = {},
): Promise<ChainVerification> {
  authorize(ctx, installation ? installationAuditPermissions.read : auditPermissions.read)
  const { vault } = ctx
  const db = installation ?? ctx.db
  const tenantId = installation ? null : ctx.tenantId
  const checkpoints = (where: ReturnType<typeof and>) =>
    db
      .select()
      .from(auditCheckpoints)
      .where(and(inChain(auditCheckpoints, tenantId), where))
  const problems: ChainProblem[] = []
  const add = (kind: ChainProblem['kind'], seq: number, lastSeq = seq, entryId: string | null = null) => {
    if (problems.length < MAX_PROBLEMS) problems.push({ kind, seq, lastSeq, entryId })
  }

  // Read before the rows: rows that are sealed meanwhile are not compared with an older end.
  const [end] = await checkpoints(undefined).orderBy(desc(auditCheckpoints.seq)).limit(1)
  const endSeq = end?.seq ?? 0
  const pruned = await lastPrune(ctx, await checkpoints(eq(auditCheckpoints.kind, 'prune')), add)
  let [seq, hash] = [pruned?.seq ?? 0, pruned?.hash ?? GENESIS]
  if (after && after > seq) {
    const [row] = await db
      .select({ hash: auditEntries.hash })
      .from(auditEntries)
      .where(and(inChain(auditEntries, tenantId), eq(auditEntries.seq, after)))
    seq = after
    hash = row?.hash ?? ''
  }
  const start = seq
  if (expected && expected.seq === start && expected.hash !== hash) add('checkpoint', start)
  if (expected && pruned && start === pruned.seq && expected.seq < start) add('pruned', expected.seq)
  let checkedCount = 0
  let hasMore = false
  for (;;) {
    const size = Math.min(BATCH, limit - checkedCount)
    const rows = (await db
      .select(CHAIN_COLUMNS)
      .from(auditEntries)
      .where(and(inChain(auditEntries, tenantId), gt(auditEntries.seq, seq), lte(auditEntries.seq, endSeq)))
      .orderBy(asc(auditEntries.seq), asc(auditEntries.id))
      .limit(size)) as (ChainRow & { seq: number; hash: string })[]
    if (rows.length === 0) break
    const signed = new Map(
      (
        await checkpoints(
          and(gt(auditCheckpoints.seq, seq), lte(auditCheckpoints.seq, rows.at(-1)!.seq), eq(auditCheckpoints.kind, 'seal')),
        )
      ).map((checkpoint) => [checkpoint.seq, checkpoint]),
    )
    for (const [i, row] of rows.entries()) {
      if (i % ROWS_PER_TURN === ROWS_PER_TURN - 1) await scheduler.yield()
      if (row.seq === seq) {
        add('duplicate', row.seq, row.seq, row.id)
        continue
      }
      if (row.seq > seq + 1) add('missing', seq + 1, row.seq - 1)
      // After a gap the predecessor is unknown: only the following rows are checked against this one.
      else if (chainHash(hash, row) !== row.hash) add('changed', row.seq, row.seq, row.id)
      const checkpoint = signed.get(row.seq)
      if (checkpoint && (checkpoint.hash !== row.hash || !(await isSigned(vault, checkpoint))))
        add('checkpoint', row.seq, row.seq, row.id)
      if (expected?.seq === row.seq && expected.hash !== row.hash) add('checkpoint', row.seq, row.seq, row.id)
      ;[seq, hash] = [row.seq, row.hash]
    }
    checkedCount += rows.length
    if (checkedCount >= limit) {
      hasMore = true
      break
    }
  }
  if (!hasMore) {
    if (seq < endSeq) add('missing', seq + 1, endSeq)
    if (expected && expected.seq > Math.max(seq, endSeq)) add('missing', expected.seq)
    const [unsigned] = await db
      .select({ first: min(auditEntries.seq), last: sql<number>`max(${auditEntries.seq})`.mapWith(Number) })
      .from(auditEntries)
      .where(
        and(
          inChain(auditEntries, tenantId),
          gt(auditEntries.seq, endSeq),
          // Rows of a pass that committed meanwhile have a checkpoint.
          sql`${auditEntries.seq} > coalesce((select max(seq) from ${auditCheckpoints} where ${inChain(auditCheckpoints, tenantId)}), 0)`,
        ),
      )
    if (unsigned?.first) add('unsigned', unsigned.first, unsigned.last)
  }
  const [unsealed] = await db
    .select({ count: sql<number>`count(*)::int`, oldest: min(auditEntries.createdAt) })
    .from(auditEntries)
    .where(and(inChain(auditEntries, tenantId), isNull(auditEntries.seq)))
  return {
    after: start,
    lastSeq: seq,
    lastHash: hash,
    checkedCount,
    hasMore,
    problems: problems.sort((a, b) => a.seq - b.seq),
    unsealedCount: unsealed!.count,
    oldestUnsealedAt: unsealed!.oldest,
  }
}

/** The last position up to which retention deleted rows. A forged one is a problem: it could hide deleted rows. */
async function lastPrune(
  { vault }: Ctx,
  prunes: AuditCheckpoint[],
  add: (kind: 'checkpoint', seq: number) => void,
): Promise<AuditCheckpoint | undefined> {
  for (const prune of prunes.sort((a, b) => b.seq - a.seq)) {
    if (await isSigned(vault, prune)) return prune
    add('checkpoint', prune.seq)
  }
  return undefined
}
