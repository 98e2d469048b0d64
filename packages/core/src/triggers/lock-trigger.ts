import { and, eq } from 'drizzle-orm'
import type { Ctx, Tx } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { Conflict, Forbidden, NotFound } from '../kernel/errors.ts'
import { jobTemplates } from '../templates/tables.ts'
import { triggerWriteBlockedReason } from './policy.ts'
import { type Trigger, triggers } from './tables.ts'

/** Locks a trigger that the caller may change. @throws NotFound, Forbidden */
export async function lockTrigger(tx: Tx, ctx: Ctx, id: string): Promise<Trigger> {
  const [trigger] = await tx
    .select()
    .from(triggers)
    .where(and(visibleTo(ctx, triggers), eq(triggers.id, id)))
    .for('update')
  if (!trigger) throw new NotFound(`There is no trigger ${id}.`)
  const reason = triggerWriteBlockedReason(ctx.actor, trigger)
  if (reason) throw new Forbidden(reason)
  return trigger
}

/** The name of a trigger's template. @throws Conflict */
export async function templateOf(tx: Tx, ctx: Ctx, { name, templateId }: Trigger): Promise<string> {
  const [template] = await tx
    .select({ name: jobTemplates.name })
    .from(jobTemplates)
    .where(and(visibleTo(ctx, jobTemplates), eq(jobTemplates.id, templateId)))
  if (!template) throw new Conflict(`The job template of the trigger ${name} was deleted at this moment.`)
  return template.name
}
