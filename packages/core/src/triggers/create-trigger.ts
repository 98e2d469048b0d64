import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import { audit } from '../audit/index.ts'
import { IdempotencyKey, idempotent, shownOnce } from '../idempotency/index.ts'
import { authorizeSomewhere, type Ctx, createdBy } from '../kernel/context.ts'
import { newId } from '../kernel/db/columns.ts'
import { nameTaken, visibleTo } from '../kernel/db/rows.ts'
import { Conflict, parseInput } from '../kernel/errors.ts'
import { ownedBy } from '../schedules/index.ts'
import { triggerAudit } from './audit-actions.ts'
import { triggerChanged } from './change-events.ts'
import { triggerPermissions } from './permissions.ts'
import { type Trigger, triggers } from './tables.ts'
import { assertTriggerTarget, TRIGGER_FIELDS } from './trigger-fields.ts'

export const CreateTriggerInput = z.object({
  ...TRIGGER_FIELDS,
  description: TRIGGER_FIELDS.description.nullish(),
  nodesPath: TRIGGER_FIELDS.nodesPath.nullish(),
  settings: TRIGGER_FIELDS.settings.nullish(),
  variables: TRIGGER_FIELDS.variables.nullish(),
  signature: TRIGGER_FIELDS.signature.nullish(),
  maxPerHour: TRIGGER_FIELDS.maxPerHour.nullish(),
  isEnabled: TRIGGER_FIELDS.isEnabled.nullish(),
  idempotencyKey: IdempotencyKey,
})

const MAX_TRIGGERS = 1000
const DEFAULT_MAX_PER_HOUR = 60
/** A trigger whose secret is shown now, and never again. */
export type TriggerWithSecret = { trigger: Trigger; secret: string }

/**
 * Creates a trigger, which starts runs with the permissions that the caller has then. Its secret is returned only here.
 * @throws InvalidInput, Forbidden when the caller may not start the template now, NotFound, Conflict when the name is taken
 */
export async function createTrigger(ctx: Ctx, input: z.input<typeof CreateTriggerInput>): Promise<TriggerWithSecret> {
  authorizeSomewhere(ctx, triggerPermissions.write)
  const { idempotencyKey, ...given } = parseInput(CreateTriggerInput, input)
  const id = newId()
  const fresh = await newTriggerSecret(ctx, id)
  const result = shownOnce<TriggerWithSecret>(
    `The idempotency key ${idempotencyKey} already created a trigger, and a secret is shown once. Rotate the secret of the trigger ${given.name}.`,
  )
  return idempotent(ctx, { verb: 'createTrigger', key: idempotencyKey, input: given, result }, async (tx, ctx) => {
    const { template, ...rest } = given
    const fields = {
      ...rest,
      description: given.description ?? '',
      nodesPath: given.nodesPath ?? null,
      settings: given.settings ?? {},
      variables: given.variables ?? [],
      signature: given.signature ?? ('muster' as const),
      maxPerHour: given.maxPerHour ?? DEFAULT_MAX_PER_HOUR,
      isEnabled: given.isEnabled ?? true,
    }
    const templateId = await assertTriggerTarget(tx, ctx, { ...fields, template })
    if ((await tx.$count(triggers, visibleTo(ctx, triggers))) >= MAX_TRIGGERS)
      throw new Conflict(`The tenant already has ${MAX_TRIGGERS} triggers, which is the maximum. Delete a trigger first.`)
    const [trigger] = await tx
      .insert(triggers)
      .values({
        ...fields,
        id,
        tenantId: ctx.tenantId,
        templateId,
        encrypted: fresh.encrypted,
        ...ownedBy(ctx),
        ...createdBy(ctx),
      })
      .onConflictDoNothing()
      .returning()
    if (!trigger) throw nameTaken('trigger', fields.name)
    await audit(tx, ctx, triggerAudit.create, trigger, { template, limit: fields.limit, signature: fields.signature })
    ctx.notify(triggerChanged({ id, tenantId: ctx.tenantId }))
    return { trigger, secret: fresh.secret }
  })
}

/** A new secret of 256 bits and its encrypted form. Slow, so do not call it inside a transaction. */
export async function newTriggerSecret(ctx: Ctx, id: string): Promise<{ secret: string; encrypted: Trigger['encrypted'] }> {
  const secret = `mst_${randomBytes(32).toString('base64url')}`
  return {
    secret,
    encrypted: { secret: await ctx.vault.encrypt({ tenantId: ctx.tenantId, objectId: id, field: 'secret' }, secret) },
  }
}
