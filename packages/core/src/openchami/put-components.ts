import { and } from 'drizzle-orm'
import { z } from 'zod'
import { authorize, type Ctx, inTransaction } from '../kernel/context.ts'
import { isOneOf, visibleTo } from '../kernel/db/rows.ts'
import { InvalidInput, NotFound, parseInput } from '../kernel/errors.ts'
import { setNodeMaintenance } from '../node-states/index.ts'
import { importNodes, nodePermissions, updateNode } from '../nodes/index.ts'
import { Nid, NodeXname } from '../nodes/network/index.ts'
import { computeNodes, NODE_TYPES } from '../nodes/tables.ts'

export const PutComponentsInput = z.object({
  components: z
    .array(
      z.object({
        xname: NodeXname,
        nid: Nid.nullish(),
        nodeType: z.enum(NODE_TYPES).nullish(),
        /** false: the node is in maintenance. */
        isEnabled: z.boolean().nullish(),
      }),
    )
    .min(1, 'name at least one component')
    .max(10_000, 'at most 10,000 components'),
  /** Whether missing nodes are added, with the xname as their name and host. */
  addsMissing: z.boolean(),
})

/**
 * Changes the nodes with these xnames, and adds missing ones; all or nothing. Fields that are not given keep their values.
 * @throws InvalidInput naming the component; NotFound a component, unless missing ones are added; Conflict a NID or name is taken
 */
export async function putComponents(ctx: Ctx, input: z.input<typeof PutComponentsInput>): Promise<void> {
  authorize(ctx, nodePermissions.write)
  const { components, addsMissing } = parseInput(PutComponentsInput, input)
  const xnames = components.map(({ xname }) => xname)
  const repeated = xnames.find((xname, i) => xnames.indexOf(xname) < i)
  if (repeated) throw new InvalidInput([{ path: 'components', message: `${repeated} is given twice` }])
  await inTransaction(ctx, async (tx, ctx) => {
    const nodes = await tx
      .select({
        id: computeNodes.id,
        xname: computeNodes.xname,
        nid: computeNodes.nid,
        nodeType: computeNodes.nodeType,
        maintenanceAt: computeNodes.maintenanceAt,
      })
      .from(computeNodes)
      .where(and(visibleTo(ctx, computeNodes), isOneOf(computeNodes.xname, xnames, 'text')))
    const byXname = new Map(nodes.map((node) => [node.xname, node]))
    const missing = components.filter(({ xname }) => !byXname.has(xname))
    if (missing.length > 0 && !addsMissing) throw new NotFound(`There is no node with the xname ${missing[0]!.xname}.`)
    for (const [xname, id] of await addNodes(ctx, missing))
      byXname.set(xname, { id, xname, nid: null, nodeType: 'COMPUTE', maintenanceAt: null })
    const added = new Set(missing.map(({ xname }) => xname))
    for (const { xname, nid, nodeType, isEnabled } of components) {
      const node = byXname.get(xname)!
      const changes = {
        ...(!added.has(xname) && nid !== undefined && nid !== null && nid !== node.nid ? { nid } : {}),
        ...(nodeType && nodeType !== node.nodeType ? { nodeType } : {}),
      }
      if (Object.keys(changes).length > 0) await updateNode(ctx, { id: node.id, ...changes })
      if (isEnabled !== undefined && isEnabled !== null && isEnabled === (node.maintenanceAt !== null))
        await setNodeMaintenance(ctx, { id: node.id, isOn: !isEnabled })
    }
  })
}

/** @returns IDs by xname */
async function addNodes(
  ctx: Ctx,
  components: { xname: string; nid?: number | null | undefined }[],
): Promise<Map<string, string>> {
  if (components.length === 0) return new Map()
  const lines = components.map(({ xname, nid }) => `${xname},${xname},${xname},${nid ?? ''}`)
  const { rows } = await importNodes(ctx, { format: 'CSV', text: ['name,host,xname,nid', ...lines].join('\n') })
  const failed = rows.filter(({ node, state }) => !node || state !== 'ADDED')
  if (failed.length > 0)
    throw new InvalidInput(
      failed.map(({ name, issues }) => ({
        path: `components.${name}`,
        message: issues.map(({ message }) => message).join('; '),
      })),
    )
  return new Map(rows.map(({ node }) => [node!.xname!, node!.id]))
}
