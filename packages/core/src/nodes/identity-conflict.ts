import { and, eq, ne, or } from 'drizzle-orm'
import type { Ctx, Tx } from '../kernel/context.ts'
import type { Db } from '../kernel/db/client.ts'
import { nameTaken, visibleTo } from '../kernel/db/rows.ts'
import { Conflict } from '../kernel/errors.ts'
import { type ComputeNode, computeNodes } from './tables.ts'

type Identity = { name?: string | undefined; xname?: string | null | undefined; nid?: number | null | undefined }

/** Why a node cannot have the xname or NID of `identity`: `node` has it. Null when it has neither. */
export function identityTakenIssue(identity: Identity, node: Pick<ComputeNode, 'name' | 'status' | 'xname' | 'nid'>) {
  const has = `The node ${node.name} (${node.status}) already has`
  if (identity.xname != null && identity.xname === node.xname)
    return { path: 'xname', message: `${has} the xname ${node.xname}. Clear it there, or choose another one.` }
  if (identity.nid != null && identity.nid === node.nid)
    return { path: 'nid', message: `${has} the NID ${node.nid}. Clear it there, or choose another one.` }
  return null
}

/** The error of a write that violates the unique name, xname or NID of nodes. @param id the changed node */
export async function identityConflict(db: Db | Tx, ctx: Ctx, identity: Identity, id?: string): Promise<Conflict> {
  const { name, xname, nid } = identity
  const rows = await db
    .select({ name: computeNodes.name, status: computeNodes.status, xname: computeNodes.xname, nid: computeNodes.nid })
    .from(computeNodes)
    .where(
      and(
        visibleTo(ctx, computeNodes),
        id === undefined ? undefined : ne(computeNodes.id, id),
        or(
          name === undefined ? undefined : eq(computeNodes.name, name),
          xname == null ? undefined : eq(computeNodes.xname, xname),
          nid == null ? undefined : eq(computeNodes.nid, nid),
        ),
      ),
    )
  if (rows.some((row) => row.name === name)) return nameTaken('node', name)
  const [issue] = rows.flatMap((row) => identityTakenIssue(identity, row) ?? [])
  return issue ? new Conflict(issue.message) : nameTaken('node', name)
}
