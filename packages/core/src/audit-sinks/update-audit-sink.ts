import { and, eq, sql } from 'drizzle-orm'
import { z } from 'zod'
import { audit, auditPermissions } from '../audit/index.ts'
import { authorize, type Ctx, inTransaction } from '../kernel/context.ts'
import { nameTaken, notFoundOrConflict, sqlState, UNIQUE_VIOLATION, visibleTo } from '../kernel/db/rows.ts'
import { InvalidInput, parseInput } from '../kernel/errors.ts'
import { Id } from '../kernel/input.ts'
import { type LocalTarget, targetIssues, targetsOf } from '../kernel/outbound/index.ts'
import { auditSinkAudit } from './audit-actions.ts'
import { auditSinkChanged } from './change-events.ts'
import { encryptSinkSecrets, SINK_FIELDS, sinkIssues, sinkSettings } from './sink-fields.ts'
import { type AuditSink, auditSinks } from './tables.ts'

export const UpdateAuditSinkInput = z.object({ ...SINK_FIELDS, name: SINK_FIELDS.name.optional(), id: Id })

/**
 * Changes the given fields; null clears a field. Delivery continues after the last accepted entry, and a failing sink is retried now.
 * @throws InvalidInput, NotFound, Conflict when the name is taken
 */
export async function updateAuditSink(
  ctx: Ctx,
  input: z.input<typeof UpdateAuditSinkInput>,
  localTargets: readonly LocalTarget[] = [],
): Promise<AuditSink> {
  authorize(ctx, auditPermissions.write)
  const { id, ...changes } = parseInput(UpdateAuditSinkInput, input)
  const rejected = await targetIssues(targetsOf(changes), localTargets)
  const added = await encryptSinkSecrets(ctx, id, changes)
  const scope = and(visibleTo(ctx, auditSinks), eq(auditSinks.id, id))
  const work = inTransaction(ctx, async (tx, ctx) => {
    const [before] = await tx.select().from(auditSinks).where(scope).for('no key update')
    if (!before) throw await notFoundOrConflict(tx, ctx, auditSinks, id, 'sink', () => null)
    const encrypted = { ...before.encrypted, ...added }
    if (changes.authorization === null) delete encrypted.authorization
    // An encrypted field counts as given; its value does not matter here.
    const fields = { ...before.settings, ...encrypted, ...changes }
    const issues = [...sinkIssues(before.kind, fields), ...rejected]
    const settings = sinkSettings(before.kind, fields, changes.url ? new URL(changes.url).origin : before.settings.origin)
    if (settings.origin !== before.settings.origin && encrypted.authorization && !added.authorization)
      issues.push({
        path: 'authorization',
        message: 'is required again when the server changes: the stored one was for the previous server',
      })
    if (issues.length > 0) throw new InvalidInput(issues)
    const [sink] = await tx
      .update(auditSinks)
      .set({
        name: changes.name ?? before.name,
        settings,
        encrypted,
        isEnabled: changes.isEnabled ?? before.isEnabled,
        attempts: 0,
        failingSince: null,
        lastError: null,
        retryAt: null,
        updatedAt: sql`now()`,
      })
      .where(scope)
      .returning()
    await audit(tx, ctx, auditSinkAudit.update, sink!, { changed: Object.keys(changes), settings: sink!.settings })
    ctx.notify(auditSinkChanged({ id, tenantId: ctx.tenantId }))
    return sink!
  })
  return work.catch((error: unknown) => {
    if (sqlState(error) === UNIQUE_VIOLATION) throw nameTaken('sink', changes.name)
    throw error
  })
}
