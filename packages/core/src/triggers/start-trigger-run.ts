import { and, eq } from 'drizzle-orm'
import type { Ctx, Tx } from '../kernel/context.ts'
import { visibleTo } from '../kernel/db/rows.ts'
import { InvalidInput, NotFound } from '../kernel/errors.ts'
import { runJob, runJobOnUsableNodes } from '../runs/index.ts'
import { foldHostlist, selectNodes } from '../selection/index.ts'
import { jobTemplates } from '../templates/tables.ts'
import { bodyNodes, bodyVars, parseBody } from './read-body.ts'
import type { Trigger } from './tables.ts'

/** `message`: which nodes of the selection were left out, and why. */
export type TriggerRun = { run: { id: string; number: number }; message: string | null }

/** Starts the run of a trigger as the caller, who is its owner. @throws the errors of `runJob` */
export async function startTriggerRun(tx: Tx, ctx: Ctx, trigger: Trigger, body: Buffer): Promise<TriggerRun> {
  const document = parseBody(body)
  const [template] = await tx
    .select({ name: jobTemplates.name })
    .from(jobTemplates)
    .where(and(visibleTo(ctx, jobTemplates), eq(jobTemplates.id, trigger.templateId)))
  if (!template) throw new NotFound('The job template of the trigger was deleted.')
  const names = bodyNodes(trigger, document)
  const common = {
    ...trigger.settings,
    extraVars: { ...trigger.settings.extraVars, ...bodyVars(trigger, document) },
    template: template.name,
    reason: `Trigger ${trigger.name}`,
  }
  // The sender named the nodes, and must learn that one of them cannot be used.
  if (names) return { run: await runJob(ctx, { ...common, nodeIds: await allowedNodes(tx, ctx, trigger, names) }), message: null }
  return runJobOnUsableNodes(ctx, { ...common, limit: trigger.limit })
}

/** The IDs of nodes of the trigger's limit by their names. @throws InvalidInput naming all others */
async function allowedNodes(tx: Tx, ctx: Ctx, { limit, nodesPath }: Trigger, names: readonly string[]): Promise<string[]> {
  const ids = new Map((await selectNodes(ctx, limit, tx)).map((node) => [node.name, node.id]))
  const others = names.filter((name) => !ids.has(name))
  if (others.length > 0)
    throw new InvalidInput([
      {
        path: nodesPath!,
        message: `names nodes that the trigger does not permit: ${foldHostlist(others).slice(0, 500)}`,
      },
    ])
  return names.map((name) => ids.get(name)!)
}
