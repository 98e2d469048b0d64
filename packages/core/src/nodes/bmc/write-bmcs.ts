import { and, eq, sql } from 'drizzle-orm'
import type { z } from 'zod'
import type { Ctx, Tx } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/client.ts'
import { insertRows } from '../../kernel/db/insert-rows.ts'
import { visibleTo } from '../../kernel/db/rows.ts'
import { Conflict } from '../../kernel/errors.ts'
import { computeNodes, type NodeBmc, type NodeStatus, nodeBmcs } from '../tables.ts'
import { BMC_PORTS, type NewBmc } from './fields.ts'

type Place = Pick<NodeBmc, 'address' | 'port' | 'systemPath'>
type Owner = Place & { name: string; status: NodeStatus }

/** Columns of a new BMC. */
export const bmcColumns = (bmc: z.output<typeof NewBmc>) => ({
  ...bmc,
  port: bmc.port ?? BMC_PORTS[bmc.protocol],
  systemPath: bmc.systemPath ?? '',
})

/** Nodes with a BMC at one of the places. */
export async function ownersOfBmcs(db: Db | Tx, ctx: Ctx, places: Place[]): Promise<(Owner & { nodeId: string })[]> {
  if (places.length === 0) return []
  return db
    .select({
      ...{ address: nodeBmcs.address, port: nodeBmcs.port, systemPath: nodeBmcs.systemPath },
      ...{ nodeId: computeNodes.id, name: computeNodes.name, status: computeNodes.status },
    })
    .from(nodeBmcs)
    .innerJoin(computeNodes, eq(computeNodes.id, nodeBmcs.nodeId))
    .where(
      and(
        visibleTo(ctx, nodeBmcs),
        sql`(${nodeBmcs.address}, ${nodeBmcs.port}, ${nodeBmcs.systemPath}) in (select address, port, "systemPath"
          from json_to_recordset(${JSON.stringify(places)}::json) as p(address text, port int, "systemPath" text))`,
      ),
    )
}

export const placeKey = ({ address, port, systemPath }: Place): string => JSON.stringify([address, port, systemPath])

/** The reason why another node cannot have the BMC. */
export const bmcTaken = ({ address, name, status, systemPath }: Owner): string =>
  `The node ${name} (${status}) already has the BMC ${address}${systemPath === '' ? '' : ` with ${systemPath}`}. If the BMC has several systems, set the system path of each node; otherwise remove it there.`

/** Adds BMCs to nodes. @throws Conflict naming the node that has one of them */
export async function insertBmcs(
  tx: Tx,
  ctx: Ctx,
  nodes: { id: string; bmc: z.output<typeof NewBmc> | null | undefined }[],
): Promise<void> {
  const rows = nodes
    .flatMap(({ id, bmc }) => (bmc ? [{ ...bmcColumns(bmc), nodeId: id, tenantId: ctx.tenantId }] : []))
    // Sorted, so that concurrent transactions do not deadlock.
    .sort((a, b) => (placeKey(a) < placeKey(b) ? -1 : 1))
  if (rows.length === 0) return
  const inserted = await insertRows(tx, nodeBmcs, rows, { skipConflicts: true, returning: ['nodeId'] })
  if (inserted.length === rows.length) return
  const done = new Set(inserted.map(({ nodeId }) => nodeId))
  const missing = rows.filter(({ nodeId }) => !done.has(nodeId))
  const [owner] = await ownersOfBmcs(tx, ctx, missing)
  throw new Conflict(owner ? bmcTaken(owner) : `The BMC ${missing[0]!.address} was in use a moment ago; try again.`)
}
