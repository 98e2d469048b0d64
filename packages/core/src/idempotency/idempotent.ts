import { and, eq } from 'drizzle-orm'
import { type Ctx, createdBy, inTransaction, type Tx } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { Conflict } from '../kernel/errors.ts'
import { singleLineText } from '../kernel/input.ts'
import { hashInput, isSameInput } from './input-hash.ts'
import { idempotencyKeys } from './tables.ts'

/** The input field of every verb that creates something. */
export const IdempotencyKey = singleLineText(200).nullish()

/** How a repeated request finds the result of the first one. */
export type ResultStore<T> = {
  /** What to store of the result, as JSON and without secrets. */
  store(result: T): unknown
  /** The current state of the stored result; undefined when it was deleted. May throw the error to return for a repeat. */
  load(tx: Tx, ctx: Ctx, stored: unknown): Promise<T | undefined>
}

export type IdempotentRequest<T> = {
  /** The verb's name. Each verb has its own keys. */
  verb: string
  /** Without a key, every request is a new one. */
  key: string | null | undefined
  /** All that decides the result; stored only as a salted hash. */
  input: unknown
  hasSecrets?: boolean
  result: ResultStore<T>
}

/**
 * Runs `work` in one transaction, like `inTransaction`, at most once per tenant, verb and key within the days that keys are kept. A
 * repeat with the same input returns the first result. Of two concurrent requests one runs; the other waits and gets its result.
 * A request that fails leaves no key, so that it can be repeated.
 * @throws Conflict when the key was used with other input, or its result was deleted
 */
export async function idempotent<C extends Ctx, T>(
  ctx: C,
  { verb, key, input, hasSecrets = false, result }: IdempotentRequest<T>,
  work: (tx: Tx, ctx: C) => Promise<T>,
): Promise<T> {
  if (!key) return inTransaction(ctx, work)
  return inTransaction(ctx, async (tx, ctx) => {
    const inputHash = await hashInput(input, hasSecrets)
    // Waits for a concurrent request with this key until that one commits or rolls back.
    const [first] = await tx
      .insert(idempotencyKeys)
      .values({ tenantId: ctx.tenantId, verb, key, inputHash, ...createdBy(ctx) })
      .onConflictDoNothing()
      .returning({ id: idempotencyKeys.id })
    if (first) {
      const done = await work(tx, ctx)
      await tx
        .update(idempotencyKeys)
        .set({ result: result.store(done) })
        .where(eq(idempotencyKeys.id, first.id))
      return done
    }
    const [used] = await tx
      .select()
      .from(idempotencyKeys)
      .where(and(visibleTo(ctx, idempotencyKeys), eq(idempotencyKeys.verb, verb), eq(idempotencyKeys.key, key)))
    if (!used || !(await isSameInput(used.inputHash, input, hasSecrets)))
      throw new Conflict(`The idempotency key ${key} was used for a ${verb} request with other input. Use a new key per request.`)
    const before = await result.load(tx, ctx, used.result)
    if (before === undefined)
      throw new Conflict(
        `The object that the ${verb} request with the idempotency key ${key} created was deleted. Use a new key.`,
      )
    // The first request has the row in the audit log.
    if (ctx.attempt) ctx.attempt.isRecorded = true
    return before
  })
}
