import { createHash } from 'node:crypto'
import { and, eq, or, sql } from 'drizzle-orm'
import { findOwnerActor } from '../access/index.ts'
import { audit } from '../audit/index.ts'
import { type Actor, authorize, type Ctx, inTransaction, type SystemCtx, type Tx, tenantCtx } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { Conflict, DomainError, NotFound } from '../kernel/errors.ts'
import { singleLineText } from '../kernel/input.ts'
import { jobRuns } from '../runs/tables.ts'
import { ownerGoneMessage } from '../schedules/index.ts'
import { triggerAudit } from './audit-actions.ts'
import { triggerChanged } from './change-events.ts'
import { triggerPermissions } from './permissions.ts'
import { startTriggerRun, type TriggerRun } from './start-trigger-run.ts'
import { type Trigger, type TriggerDelivery, triggerDeliveries, triggers } from './tables.ts'

export const TriggerIdempotencyKey = singleLineText(200)

/** A request with a valid signature. */
export type TriggerRequest = {
  body: Buffer
  /** From `verifySignature`. */
  signature: string
  /** Null: the signed bytes are the key. */
  idempotencyKey: string | null
  address: string | null
}

export type TriggerResult =
  | { kind: 'started'; run: { id: string; number: number } | null; isRepeat: boolean }
  | { kind: 'failed'; message: string; code: string }
  | { kind: 'limited'; maxPerHour: number; retryAfterSeconds: number }

const sha256 = (data: string | Buffer) => createHash('sha256').update(data).digest('hex')

/**
 * Starts the run that a request asks for, with the authority of the trigger's owner. A repeated request returns the run of the first one.
 * @param trigger as read for the check of the signature
 * @throws Conflict when the trigger is disabled or its secret was rotated, or the idempotency key was used with another body
 */
export async function receiveTrigger(system: SystemCtx, trigger: Trigger, request: TriggerRequest): Promise<TriggerResult> {
  authorize(system, triggerPermissions.receive)
  const owner = await findOwnerActor(system.db, trigger.tenantId, trigger)
  const ctx = tenantCtx(system, trigger.tenantId, system.actor)
  const bodyHash = sha256(request.body)
  const signatureHash = sha256(request.signature)
  const keyHash = sha256(request.idempotencyKey === null ? `signature ${request.signature}` : `key ${request.idempotencyKey}`)
  return inTransaction(ctx, async (tx, ctx): Promise<TriggerResult> => {
    await lockEnabled(tx, ctx, trigger)
    const [before] = await tx
      .select()
      .from(triggerDeliveries)
      .where(
        and(
          visibleTo(ctx, triggerDeliveries),
          eq(triggerDeliveries.triggerId, trigger.id),
          or(eq(triggerDeliveries.keyHash, keyHash), eq(triggerDeliveries.signatureHash, signatureHash)),
        ),
      )
      .limit(1)
    if (before) return repeat(tx, ctx, before, bodyHash)
    const retryAfterSeconds = await secondsUntilAllowed(tx, ctx, trigger)
    if (retryAfterSeconds !== null) return { kind: 'limited', maxPerHour: trigger.maxPerHour, retryAfterSeconds }

    const result = await start(ctx, trigger, owner, request.body)
    const isStarted = 'run' in result
    await tx.insert(triggerDeliveries).values({
      tenantId: trigger.tenantId,
      triggerId: trigger.id,
      outcome: isStarted ? 'STARTED' : 'FAILED',
      message: result.message?.slice(0, 2000) ?? null,
      keyHash: isStarted ? keyHash : null,
      signatureHash: isStarted ? signatureHash : null,
      bodyHash,
      address: request.address,
      jobRunId: isStarted ? result.run.id : null,
      createdAt: sql`now()`,
    })
    const details = { bodyHash, ...(result.message === null ? {} : { message: result.message }) }
    await audit(tx, ctx, triggerAudit.fire, trigger, details, isStarted ? { runId: result.run.id } : {})
    ctx.notify(triggerChanged({ id: trigger.id, tenantId: trigger.tenantId }))
    return isStarted ? { kind: 'started', run: result.run, isRepeat: false } : { kind: 'failed', ...result }
  })
}

/** One request of a trigger at a time. The signature was checked before the lock, so that the secret must be the same. */
async function lockEnabled(tx: Tx, ctx: Ctx, { id, encrypted }: Trigger): Promise<void> {
  const [locked] = await tx
    .select({ name: triggers.name, isEnabled: triggers.isEnabled, encrypted: triggers.encrypted })
    .from(triggers)
    .where(and(visibleTo(ctx, triggers), eq(triggers.id, id)))
    .for('update')
  if (!locked) throw new NotFound('The trigger was deleted.')
  if (locked.encrypted.secret !== encrypted.secret)
    throw new Conflict('The secret of the trigger changed. Send the request again.')
  if (!locked.isEnabled) throw new Conflict(`The trigger ${locked.name} is disabled.`)
}

async function repeat(tx: Tx, ctx: Ctx, before: TriggerDelivery, bodyHash: string): Promise<TriggerResult> {
  if (before.bodyHash !== bodyHash)
    throw new Conflict('The idempotency key was used with another body. Use a new key for each event.')
  await tx
    .update(triggerDeliveries)
    .set({ repeatCount: sql`${triggerDeliveries.repeatCount} + 1` })
    .where(and(visibleTo(ctx, triggerDeliveries), eq(triggerDeliveries.id, before.id)))
  const [run] = before.jobRunId
    ? await tx
        .select({ id: jobRuns.id, number: jobRuns.number })
        .from(jobRuns)
        .where(and(visibleTo(ctx, jobRuns), eq(jobRuns.id, before.jobRunId)))
    : []
  return { kind: 'started', run: run ?? null, isRepeat: true }
}

/** Null: a request is allowed now. */
async function secondsUntilAllowed(tx: Tx, ctx: Ctx, { id, maxPerHour }: Trigger): Promise<number | null> {
  // The oldest of the requests that fill the hour decides when the next one is allowed.
  const [oldest] = await tx
    .select({ seconds: sql<number>`ceil(extract(epoch from ${triggerDeliveries.createdAt} + interval '1 hour' - now()))::int` })
    .from(triggerDeliveries)
    .where(
      and(
        visibleTo(ctx, triggerDeliveries),
        eq(triggerDeliveries.triggerId, id),
        sql`${triggerDeliveries.createdAt} > now() - interval '1 hour'`,
      ),
    )
    .orderBy(sql`${triggerDeliveries.createdAt} desc`)
    .offset(maxPerHour - 1)
    .limit(1)
  return oldest ? Math.max(1, oldest.seconds) : null
}

type Failed = { message: string; code: string }

async function start(ctx: Ctx, trigger: Trigger, owner: Actor | null, body: Buffer): Promise<TriggerRun | Failed> {
  if (!owner) return { code: 'FORBIDDEN', message: ownerGoneMessage('trigger', trigger) }
  try {
    // A savepoint: a refused start leaves nothing behind, and the request is recorded nevertheless.
    return await inTransaction({ ...ctx, actor: owner }, (tx, owned) => startTriggerRun(tx, owned, trigger, body))
  } catch (error) {
    if (!(error instanceof DomainError)) throw error
    return { code: error.code, message: error.message }
  }
}
