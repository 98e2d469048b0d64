import { and, eq, getColumns, sql } from 'drizzle-orm'
import type { z } from 'zod'
import { allowedHostsBlockedReason } from '../../kernel/allowed-hosts.ts'
import type { Ctx, Tx } from '../../kernel/context.ts'
import type { Db } from '../../kernel/db/client.ts'
import { newId } from '../../kernel/db/columns.ts'
import { insertRows } from '../../kernel/db/insert-rows.ts'
import { visibleTo } from '../../kernel/db/rows.ts'
import { Conflict, type InputIssue, InvalidInput } from '../../kernel/errors.ts'
import { checkReferences } from '../fields.ts'
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

/**
 * Checks the credentials of BMCs, each one once.
 * @param bmcs with the paths of their credentials in the caller's input
 * @throws InvalidInput, Forbidden
 */
export async function checkBmcCredentials(
  tx: Tx,
  ctx: Ctx,
  bmcs: { path: string; credentialId: string; address: string }[],
): Promise<void> {
  const issues: InputIssue[] = []
  for (const [bmcCredentialId, some] of Map.groupBy(bmcs, ({ credentialId }) => credentialId)) {
    const rows = await checkReferences(tx, ctx, { bmcCredentialId }, { at: { bmcCredentialId: some[0]!.path } })
    for (const { path, address } of some)
      for (const row of rows) {
        const message = allowedHostsBlockedReason(row, address)
        if (message) issues.push({ path, message })
      }
  }
  if (issues.length > 0) throw new InvalidInput(issues)
}

type Written = Omit<NodeBmc, 'id' | 'tenantId' | 'createdAt' | 'updatedAt'>

/** Adds or changes the BMCs of nodes. A unique violation: two nodes have the same one. */
export async function upsertBmcs(tx: Tx, ctx: Ctx, bmcs: Written[]): Promise<void> {
  const columns = getColumns(nodeBmcs)
  const fields = Object.keys(columns).filter((field) => !/^(createdAt|updatedAt)$/.test(field)) as (keyof typeof columns)[]
  const rows = bmcs.map((bmc) => ({ ...bmc, id: newId(), tenantId: ctx.tenantId }))
  const records = rows.map((row) =>
    Object.fromEntries(fields.map((field) => [columns[field].name, row[field as keyof typeof row]])),
  )
  const nameOf = (field: keyof typeof columns) => sql.identifier(columns[field].name)
  const names = sql.join(fields.map(nameOf), sql`, `)
  const changed = fields.filter((field) => !/^(id|tenantId|nodeId)$/.test(field))
  const set = changed.map((field) => sql`${nameOf(field)} = excluded.${nameOf(field)}`)
  await tx.execute(sql`insert into ${nodeBmcs} (${names})
    select ${names} from json_populate_recordset(null::${nodeBmcs}, ${JSON.stringify(records)}::json)
    on conflict (node_id) do update set ${sql.join([...set, sql`updated_at = now()`], sql`, `)}`)
}

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
