import { and, or, sql } from 'drizzle-orm'
import { z } from 'zod'
import { authorizeSomewhere, type Ctx, inTransaction, type Tx } from '../kernel/context.ts'
import { isOneOf, sqlState, UNIQUE_VIOLATION, visibleTo } from '../kernel/db/rows.ts'
import { Conflict, InvalidInput, parseInput } from '../kernel/errors.ts'
import { identityTakenIssue } from './identity-conflict.ts'
import { nodePermissions } from './permissions.ts'
import { computeNodes } from './tables.ts'
import { macTaken, ownersOfMacs } from './write-interfaces.ts'
import { type Update, UpdateNodeInput, writeNodeUpdates } from './write-updates.ts'

export const UpdateNodesInput = z.object({
  nodes: z
    .array(UpdateNodeInput)
    .min(1)
    .max(10_000, 'at most 10,000 at once')
    .superRefine((nodes, ctx) => {
      const seen = new Set<string>()
      for (const [i, { id }] of nodes.entries())
        if (seen.has(id)) ctx.addIssue({ code: 'custom', path: [i, 'id'], message: 'the node is given twice' })
        else seen.add(id)
    }),
})

/**
 * Changes many nodes in a few statements: all of them or none. The checks and audit entries are those of `updateNode`. Nodes can
 * exchange their xnames, NIDs and MACs.
 * @throws InvalidInput at `nodes.N.field`, also when another node has the xname, NID or a MAC
 * @throws Forbidden, NotFound; Conflict a node is decommissioned, or a name is taken
 */
export async function updateNodes(ctx: Ctx, input: z.input<typeof UpdateNodesInput>): Promise<void> {
  authorizeSomewhere(ctx, nodePermissions.write)
  const { nodes } = parseInput(UpdateNodesInput, input)
  const work = inTransaction(ctx, (tx, ctx) =>
    writeNodeUpdates(
      tx,
      ctx,
      nodes,
      (i) => `nodes.${i}.`,
      (updates) => assertFree(tx, ctx, updates),
    ),
  )
  return work.catch((error: unknown) => {
    if (sqlState(error) !== UNIQUE_VIOLATION) throw error
    throw new Conflict('A name, xname or NID is given to two nodes, or another node got it a moment ago. Give each node its own.')
  })
}

/** @throws InvalidInput nodes that are not changed here have an xname, NID or MAC of the updates */
async function assertFree(tx: Tx, ctx: Ctx, updates: Update[]): Promise<void> {
  const own = new Map(updates.map((update) => [update.before.id, update]))
  const identified = updates.filter(({ isIdentified }) => isIdentified).map(({ after }) => after)
  const rows =
    identified.length === 0
      ? []
      : await tx
          .select({
            ...{ id: computeNodes.id, name: computeNodes.name, status: computeNodes.status },
            ...{ xname: computeNodes.xname, nid: computeNodes.nid },
          })
          .from(computeNodes)
          .where(
            and(
              visibleTo(ctx, computeNodes),
              or(
                isOneOf(
                  computeNodes.xname,
                  identified.flatMap(({ xname }) => xname ?? []),
                  'text',
                ),
                sql`${computeNodes.nid} = any(${sql.param(identified.flatMap(({ nid }) => nid ?? []))}::int[])`,
              ),
            ),
          )
  const others = rows.filter(({ id }) => !own.get(id)?.isIdentified)
  const byXname = new Map(others.map((row) => [row.xname, row]))
  const byNid = new Map(others.map((row) => [row.nid, row]))
  const macs = updates.flatMap(({ interfaces }) => (interfaces ?? []).map(({ mac }) => mac))
  const owners = macs.length === 0 ? [] : await ownersOfMacs(tx, ctx, macs)
  const byMac = new Map(owners.filter(({ nodeId }) => !own.get(nodeId)?.interfaces).map((owner) => [owner.mac, owner]))
  const issues = updates.flatMap(({ after: { xname, nid }, interfaces, isIdentified }, i) => {
    const found = [
      isIdentified && xname !== null && byXname.has(xname) ? identityTakenIssue({ xname }, byXname.get(xname)!) : null,
      isIdentified && nid !== null && byNid.has(nid) ? identityTakenIssue({ nid }, byNid.get(nid)!) : null,
      ...(interfaces ?? []).map(({ mac }, n) => {
        const owner = byMac.get(mac)
        return owner ? { path: `interfaces.${n}.mac`, message: macTaken(owner) } : null
      }),
    ]
    return found.flatMap((issue) => (issue ? [{ ...issue, path: `nodes.${i}.${issue.path}` }] : []))
  })
  if (issues.length > 0) throw new InvalidInput(issues)
}
