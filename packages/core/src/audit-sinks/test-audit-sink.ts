import { and, eq, sql } from 'drizzle-orm'
import { z } from 'zod'
import { audit, auditPermissions } from '../audit/index.ts'
import { IdempotencyKey, idempotent, oneRow } from '../idempotency/index.ts'
import { authorize, type Ctx } from '../kernel/context.ts'
import { notFoundOrConflict, visibleTo } from '../kernel/db/rows.ts'
import { parseInput } from '../kernel/errors.ts'
import { Id } from '../kernel/input.ts'
import { auditSinkAudit } from './audit-actions.ts'
import { auditSinkChanged } from './change-events.ts'
import { type AuditSink, auditSinks } from './tables.ts'

const TestAuditSinkInput = z.object({ id: Id, idempotencyKey: IdempotencyKey })

/**
 * Requests a test, also of a disabled sink: a worker sends one test entry, which is not in the audit log, and records the outcome in
 * `testedAt` and `testError`. A success ends the pause of a failing sink.
 * @throws NotFound
 */
export async function testAuditSink(ctx: Ctx, input: z.input<typeof TestAuditSinkInput>): Promise<AuditSink> {
  authorize(ctx, auditPermissions.write)
  const { id, idempotencyKey } = parseInput(TestAuditSinkInput, input)
  return idempotent(
    ctx,
    { verb: 'testAuditSink', key: idempotencyKey, input: id, result: oneRow(auditSinks) },
    async (tx, ctx) => {
      const [sink] = await tx
        .update(auditSinks)
        .set({ testRequestedAt: sql`now()`, testedAt: null, testError: null, updatedAt: sql`${auditSinks.updatedAt}` })
        .where(and(visibleTo(ctx, auditSinks), eq(auditSinks.id, id)))
        .returning()
      if (!sink) throw await notFoundOrConflict(tx, ctx, auditSinks, id, 'sink', () => null)
      await audit(tx, ctx, auditSinkAudit.test, sink)
      ctx.notify(auditSinkChanged({ id, tenantId: ctx.tenantId }))
      return sink
    },
  )
}
