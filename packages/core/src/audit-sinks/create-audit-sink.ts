import { sql } from 'drizzle-orm'
import { z } from 'zod'
import { audit, auditEntries, auditPermissions } from '../audit/index.ts'
import { IdempotencyKey, idempotent, oneRow } from '../idempotency/index.ts'
import { authorize, type Ctx } from '../kernel/context.ts'
import { newId } from '../kernel/db/columns.ts'
import { nameTaken, visibleTo } from '../kernel/db/rows.ts'
import { Conflict, InvalidInput, parseInput } from '../kernel/errors.ts'
import { type LocalTarget, targetIssues, targetsOf } from '../kernel/outbound/index.ts'
import { auditSinkAudit } from './audit-actions.ts'
import { auditSinkChanged } from './change-events.ts'
import { encryptSinkSecrets, SINK_FIELDS, sinkIssues, sinkSettings } from './sink-fields.ts'
import { type AuditSink, auditSinks, SINK_KINDS } from './tables.ts'

export const CreateAuditSinkInput = z.object({
  ...SINK_FIELDS,
  kind: z.enum(SINK_KINDS),
  /** Whether entries that already exist are delivered too. */
  includeExisting: z.boolean().nullish(),
  idempotencyKey: IdempotencyKey,
})

const MAX_SINKS = 10

/**
 * Creates a sink. Its address and secrets are encrypted and never returned; only workers use them.
 * @throws InvalidInput, Conflict when the name is taken or the tenant has too many sinks
 */
export async function createAuditSink(
  ctx: Ctx,
  input: z.input<typeof CreateAuditSinkInput>,
  localTargets: readonly LocalTarget[] = [],
): Promise<AuditSink> {
  authorize(ctx, auditPermissions.write)
  const { idempotencyKey, ...fields } = parseInput(CreateAuditSinkInput, input)
  const { name, kind } = fields
  const issues = [...sinkIssues(kind, fields), ...(await targetIssues(targetsOf(fields), localTargets))]
  if (issues.length > 0) throw new InvalidInput(issues)
  const id = newId()
  const encrypted = await encryptSinkSecrets(ctx, id, fields)
  return idempotent(
    ctx,
    { verb: 'createAuditSink', key: idempotencyKey, input: fields, hasSecrets: true, result: oneRow(auditSinks) },
    async (tx, ctx) => {
      if ((await tx.$count(auditSinks, visibleTo(ctx, auditSinks))) >= MAX_SINKS)
        throw new Conflict(`The tenant already has ${MAX_SINKS} sinks, which is the maximum. Delete a sink first.`)
      const end = sql<number>`coalesce((select max(seq) from ${auditEntries} where ${visibleTo(ctx, auditEntries)}), 0)`
      const [sink] = await tx
        .insert(auditSinks)
        .values({
          id,
          tenantId: ctx.tenantId,
          name,
          kind,
          settings: sinkSettings(kind, fields, fields.url ? new URL(fields.url).origin : undefined),
          encrypted,
          isEnabled: fields.isEnabled ?? true,
          deliveredSeq: fields.includeExisting ? 0 : end,
        })
        .onConflictDoNothing()
        .returning()
      if (!sink) throw nameTaken('sink', name)
      await audit(tx, ctx, auditSinkAudit.create, sink, { kind, settings: sink.settings })
      ctx.notify(auditSinkChanged({ id, tenantId: ctx.tenantId }))
      return sink
    },
  )
}
