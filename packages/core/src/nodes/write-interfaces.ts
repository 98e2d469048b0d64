import { and, eq } from 'drizzle-orm'
import type { z } from 'zod'
import type { Ctx, Tx } from '../kernel/context.ts'
import type { Db } from '../kernel/db/client.ts'
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
  const inserted = await tx.insert(nodeInterfaces).values(rows).onConflictDoNothing().returning({ mac: nodeInterfaces.mac })
  if (inserted.length === rows.length) return
  const missing = rows.map(({ mac }) => mac).filter((mac) => !inserted.some((row) => row.mac === mac))
  const [owner] = await ownersOfMacs(tx, ctx, missing)
  throw new Conflict(owner ? macTaken(owner) : `The MAC ${missing[0]} was in use a moment ago; try again.`)
}

/**
 * Replaces the interfaces of a node whose row the caller has locked.
 * @returns the previous interfaces
 */
export async function replaceInterfaces(tx: Tx, ctx: Ctx, id: string, interfaces: Input): Promise<Input> {
  const of = and(visibleTo(ctx, nodeInterfaces), eq(nodeInterfaces.nodeId, id))
  const before = await tx.delete(nodeInterfaces).where(of).returning()
  await insertInterfaces(tx, ctx, [{ id, interfaces }])
  return before
    .sort((a, b) => a.position - b.position)
    .map(({ name, mac, isBoot, addresses }) => ({ name, mac, isBoot, addresses }))
}
