import { and, sql } from 'drizzle-orm'
import { z } from 'zod'
import { audit } from '../audit/index.ts'
import { credentialAudit } from '../credentials/audit-actions.ts'
import { credentialPermissions } from '../credentials/permissions.ts'
import { type Credential, credentials } from '../credentials/tables.ts'
import { authorizeNodes } from '../groups/index.ts'
import { authorize, authorizeSomewhere, type Ctx, inTransaction, type Tx } from '../kernel/context.ts'
import { isOneOf, visibleTo } from '../kernel/db/rows.ts'
import { Conflict, InvalidInput, NotFound, parseInput } from '../kernel/errors.ts'
import { Id } from '../kernel/input.ts'
import { nodeAudit } from '../nodes/audit-actions.ts'
import { nodeChanged } from '../nodes/change-events.ts'
import { fingerprint } from '../nodes/index.ts'
import { nodePermissions } from '../nodes/permissions.ts'
import { type ComputeNode, computeNodes } from '../nodes/tables.ts'

const Approval = z.object({
  objectType: z.enum(['ComputeNode', 'Credential']),
  id: Id,
  fingerprint: z.string().regex(/^SHA256:[A-Za-z0-9+/]{43}=?$/, 'must be a fingerprint such as SHA256:… (43 characters)'),
})
type Approval = z.output<typeof Approval>

export const ApproveHostKeysInput = z.object({
  approvals: z.array(Approval).min(1, 'must name at least one key').max(10_000, 'at most 10,000 at once'),
})

/**
 * Pins the host keys that nodes and bastions offer, if they are the keys the caller compared. All or nothing. Keys that are
 * already pinned stay unchanged.
 * @throws NotFound, InvalidInput, Conflict naming each object that now offers another key, or none
 */
export async function approveHostKeys(
  ctx: Ctx,
  input: z.input<typeof ApproveHostKeysInput>,
): Promise<{ nodes: ComputeNode[]; credentials: Credential[] }> {
  authorizeSomewhere(ctx, nodePermissions.approveHostKey)
  authorizeSomewhere(ctx, credentialPermissions.use)
  const { approvals } = parseInput(ApproveHostKeysInput, input)
  const wanted = new Map<string, Approval>()
  approvals.forEach((approval, i) => {
    const before = wanted.get(approval.id)
    if (before && before.fingerprint !== approval.fingerprint)
      throw new InvalidInput([
        { path: `approvals.${i}.fingerprint`, message: 'differs from another fingerprint of the same object in this request' },
      ])
    wanted.set(approval.id, approval)
  })
  const idsOf = (type: Approval['objectType']) => [...wanted.values()].filter((a) => a.objectType === type).map((a) => a.id)
  return inTransaction(ctx, async (tx, ctx) => {
    // Others than those of the grant use a bastion too.
    if (idsOf('Credential').length > 0) {
      authorize(ctx, nodePermissions.approveHostKey)
      authorize(ctx, credentialPermissions.use)
    }
    await authorizeNodes(tx, ctx, nodePermissions.approveHostKey, idsOf('ComputeNode'))
    await authorizeNodes(tx, ctx, credentialPermissions.use, idsOf('ComputeNode'), { connects: true })
    const nodes = await pin(tx, ctx, computeNodes, idsOf('ComputeNode'), wanted, 'node')
    const bastions = await pin(tx, ctx, credentials, idsOf('Credential'), wanted, 'bastion')
    for (const node of nodes) ctx.notify(nodeChanged({ id: node.id, tenantId: ctx.tenantId }))
    return { nodes: nodes as ComputeNode[], credentials: bastions as Credential[] }
  })
}

async function pin(
  tx: Tx,
  ctx: Ctx,
  table: typeof computeNodes | typeof credentials,
  ids: string[],
  wanted: Map<string, Approval>,
  what: 'node' | 'bastion',
) {
  if (ids.length === 0) return []
  const scope = and(visibleTo(ctx, table), isOneOf(table.id, ids))
  const rows = await tx.select().from(table).where(scope).orderBy(table.id).for('no key update')
  const known = new Set(rows.map((row) => row.id))
  const missing = ids.find((id) => !known.has(id))
  if (missing) throw new NotFound(`There is no ${what} ${missing}.`)
  const rejected: string[] = []
  const offering: typeof rows = []
  for (const row of rows) {
    const asked = wanted.get(row.id)!.fingerprint.replace(/=$/, '')
    if (row.offeredHostKey && fingerprint(row.offeredHostKey) === asked) offering.push(row)
    else if (row.offeredHostKey)
      rejected.push(
        `The ${what} ${row.name} offers another key now, ${fingerprint(row.offeredHostKey)}; look at it and approve again.`,
      )
    else if (!row.hostKey || fingerprint(row.hostKey) !== asked)
      rejected.push(`The ${what} ${row.name} offers no key that waits for approval; test the connection first.`)
  }
  if (rejected.length > 0) throw new Conflict(rejected.slice(0, 20).join(' '))
  // The key was the reason why the node was unreachable, so its earlier state returns.
  const isNode = table === computeNodes
  const reachable = { offeredHostKeyAt: null, unreachableSince: null, unreachableReason: null }
  await tx
    .update(table)
    .set({
      hostKey: sql`${table.offeredHostKey}`,
      hostKeyApprovedAt: sql`now()`,
      offeredHostKey: null,
      ...(isNode ? reachable : {}),
    })
    .where(
      and(
        visibleTo(ctx, table),
        isOneOf(
          table.id,
          offering.map((row) => row.id),
        ),
      ),
    )
  await audit(
    tx,
    ctx,
    (isNode ? nodeAudit : credentialAudit).approveHostKey,
    offering.map(({ id, name, hostKey, offeredHostKey }) => ({
      id,
      name,
      details: { old: hostKey && fingerprint(hostKey), new: fingerprint(offeredHostKey!) },
    })),
  )
  return tx.select().from(table).where(scope).orderBy(table.id)
}
