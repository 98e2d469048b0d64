import { isDeepStrictEqual } from 'node:util'
import { and, asc, eq, sql } from 'drizzle-orm'
import type { z } from 'zod'
import type { Ctx, Tx } from '../kernel/context.ts'
import type { Db } from '../kernel/db/client.ts'
import { insertRows } from '../kernel/db/insert-rows.ts'
import { isOneOf, visibleTo } from '../kernel/db/rows.ts'
import { Conflict } from '../kernel/errors.ts'
import type { Interfaces } from './network/fields.ts'
import { computeNodes, type NodeStatus, nodeInterfaces } from './tables.ts'

type Input = z.output<typeof Interfaces>
type Owner = { mac: string; name: string; status: NodeStatus }

/** Nodes with an interface with one of the MACs. */
export const ownersOfMacs = (db: Db | Tx, ctx: Ctx, macs: string[]): Promise<(Owner & { nodeId: string })[]> =>
  db
    .select({ mac: nodeInterfaces.mac, nodeId: computeNodes.id, name: computeNodes.name, status: computeNodes.status })
    .from(nodeInterfaces)
    .innerJoin(computeNodes, eq(computeNodes.id, nodeInterfaces.nodeId))
    .where(and(visibleTo(ctx, nodeInterfaces), isOneOf(nodeInterfaces.mac, macs, 'text')))

/** The reason why another node cannot have the MAC. */
export const macTaken = ({ mac, name, status }: Owner): string =>
  `The node ${name} (${status}) already has an interface with the MAC ${mac}. Remove it there, or enter another one.`

/** Adds interfaces to nodes. @throws Conflict naming the node that has one of the MACs */
export async function insertInterfaces(tx: Tx, ctx: Ctx, nodes: { id: string; interfaces: Input }[]): Promise<void> {
  const rows = nodes
    .flatMap(({ id, interfaces }) =>
      interfaces.map((each, position) => ({ ...each, nodeId: id, position, tenantId: ctx.tenantId })),
    )
    // Sorted, so that concurrent transactions do not deadlock.
    .sort((a, b) => (a.mac < b.mac ? -1 : 1))
  if (rows.length === 0) return
  const inserted = await insertRows(tx, nodeInterfaces, rows, { skipConflicts: true, returning: ['mac'] })
  if (inserted.length === rows.length) return
  const done = new Set(inserted.map(({ mac }) => mac))
  const missing = rows.map(({ mac }) => mac).filter((mac) => !done.has(mac))
  const [owner] = await ownersOfMacs(tx, ctx, missing)
  throw new Conflict(owner ? macTaken(owner) : `The MAC ${missing[0]} was in use a moment ago; try again.`)
}

/**
 * Removes the interfaces of nodes that get others. The caller has locked the nodes.
 * @returns the previous interfaces of these nodes, by ID
 */
export async function removeInterfaces(
  tx: Tx,
  ctx: Ctx,
  nodes: { before: { id: string }; interfaces: Input | undefined }[],
): Promise<Map<string, Input>> {
  if (nodes.length === 0) return new Map()
  const of = (ids: string[]) => and(visibleTo(ctx, nodeInterfaces), isOneOf(nodeInterfaces.nodeId, ids))
  const rows = await tx
    .select()
    .from(nodeInterfaces)
    .where(of(nodes.map(({ before }) => before.id)))
    .orderBy(asc(nodeInterfaces.position))
  const byNode = Map.groupBy(rows, ({ nodeId }) => nodeId)
  const old = new Map(
    nodes.flatMap(({ before: { id }, interfaces }) => {
      const before = (byNode.get(id) ?? []).map(({ name, mac, isBoot, addresses }) => ({ name, mac, isBoot, addresses }))
      return isDeepStrictEqual(before, interfaces) ? [] : [[id, before] as const]
    }),
  )
  if (old.size > 0) await tx.execute(sql`delete from ${nodeInterfaces} where ${of([...old.keys()])}`)
  return old
}
