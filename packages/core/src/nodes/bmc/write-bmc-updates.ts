import { and, asc, isNull, sql } from 'drizzle-orm'
import type { z } from 'zod'
import { audit, changeOf } from '../../audit/index.ts'
import type { Ctx, Tx } from '../../kernel/context.ts'
import { isOneOf, notFoundOrConflict, sqlState, UNIQUE_VIOLATION, visibleTo } from '../../kernel/db/rows.ts'
import { Conflict, type InputIssue, InvalidInput } from '../../kernel/errors.ts'
import { type LocalTarget, targetIssues } from '../../kernel/outbound/index.ts'
import { nodeAudit } from '../audit-actions.ts'
import { nodeChanged } from '../change-events.ts'
import { updateBlockedReason } from '../policy.ts'
import { type ComputeNode, computeNodes, type NodeBmc, nodeBmcs } from '../tables.ts'
import { BMC_PORTS, bmcIssues, type SetNodeBmcInput } from './fields.ts'
import { bmcTaken, checkBmcCredentials, ownersOfBmcs, upsertBmcs } from './write-bmcs.ts'

type Given = z.output<typeof SetNodeBmcInput>
type Values = Omit<NodeBmc, 'id' | 'tenantId' | 'nodeId' | 'createdAt' | 'updatedAt'>
/** The BMC of a node before and after its update. */
export type BmcUpdate = {
  node: Pick<ComputeNode, 'id' | 'name'>
  before: NodeBmc | undefined
  after: Values
  /** Another machine may answer there. */
  isMoved: boolean
}

/** @throws InvalidInput addresses are local, and the installation does not allow them */
export async function assertPublicAddresses(
  given: readonly Given[],
  at: (index: number) => string,
  localTargets: readonly LocalTarget[],
): Promise<void> {
  const targets = given.flatMap(({ address, port }, i) =>
    address === undefined ? [] : [{ path: `${at(i)}address`, host: address, port: port ?? null }],
  )
  const issues = await targetIssues(targets, localTargets)
  if (issues.length > 0) throw new InvalidInput(issues)
}

/**
 * Writes BMCs in a few statements, with all checks of `setNodeBmc`.
 * @param at path of a node in the caller's input
 * @param assertFree throws when another node has one of the BMCs
 * @returns the BMCs, in the order of `given`
 */
export async function writeBmcUpdates(
  tx: Tx,
  ctx: Ctx,
  given: readonly Given[],
  at: (index: number) => string,
  assertFree: (updates: BmcUpdate[]) => Promise<void>,
): Promise<NodeBmc[]> {
  const updates = await readBmcUpdates(tx, ctx, given, at)
  // A new address or credential sends the password elsewhere. A form may send those that the BMC has already.
  const attached = updates.flatMap(({ before, after, isMoved }, i) =>
    isMoved || after.credentialId !== before?.credentialId
      ? [{ path: `${at(i)}credentialId`, credentialId: after.credentialId, address: after.address }]
      : [],
  )
  await checkBmcCredentials(tx, ctx, attached)
  await assertFree(updates)
  const ofNodes = (some: BmcUpdate[]) =>
    and(
      visibleTo(ctx, nodeBmcs),
      isOneOf(
        nodeBmcs.nodeId,
        some.map(({ node }) => node.id),
      ),
    )
  // What was read from a BMC is deleted with the row of another one.
  const moved = updates.filter(({ isMoved }) => isMoved)
  if (moved.length > 0) await tx.execute(sql`delete from ${nodeBmcs} where ${ofNodes(moved)}`)
  // So that nodes can exchange the systems of a BMC.
  const others = updates.filter(({ before, after, isMoved }) => !isMoved && before && before.systemPath !== after.systemPath)
  if (others.length > 1) await tx.execute(sql`update ${nodeBmcs} set system_path = ${nodeBmcs.id}::text where ${ofNodes(others)}`)
  await upsertBmcs(
    tx,
    ctx,
    updates.map(({ node, after }) => ({ ...after, nodeId: node.id })),
  )
  const written = new Map((await tx.select().from(nodeBmcs).where(ofNodes(updates))).map((bmc) => [bmc.nodeId, bmc]))
  const bmcs = updates.map(({ node }) => written.get(node.id)!)
  await audit(
    tx,
    ctx,
    nodeAudit.setBmc,
    updates.map((update, i) => auditObjectOf(update, bmcs[i]!)),
  )
  for (const { node } of updates) ctx.notify(nodeChanged({ id: node.id, tenantId: ctx.tenantId }))
  return bmcs
}

function auditObjectOf({ node, before, isMoved }: BmcUpdate, bmc: NodeBmc) {
  const details = {
    address: bmc.address,
    ...(isMoved ? { from: before!.address } : {}),
    ...(before?.fingerprint && before.fingerprint !== bmc.fingerprint ? { droppedFingerprint: before.fingerprint } : {}),
    ...(bmc.fingerprint ? { fingerprint: bmc.fingerprint } : {}),
  }
  return { id: node.id, name: node.name, details, change: changeOf(nodeBmcs, before ?? null, bmc) }
}

/** Locks the nodes. @returns in the order of `given` */
async function readBmcUpdates(tx: Tx, ctx: Ctx, given: readonly Given[], at: (index: number) => string): Promise<BmcUpdate[]> {
  const ids = given.map(({ nodeId }) => nodeId)
  const nodes = await tx
    .select({ id: computeNodes.id, name: computeNodes.name })
    .from(computeNodes)
    .where(and(visibleTo(ctx, computeNodes), isOneOf(computeNodes.id, ids), isNull(computeNodes.decommissionedAt)))
    // Sorted, so that concurrent calls with the same nodes do not deadlock.
    .orderBy(asc(computeNodes.id))
    .for('no key update')
  const byId = new Map(nodes.map((node) => [node.id, node]))
  const missing = ids.find((id) => !byId.has(id))
  if (missing)
    throw await notFoundOrConflict(tx, ctx, computeNodes, missing, 'node', (row) => updateBlockedReason(ctx.actor, row))
  const stored = await tx
    .select()
    .from(nodeBmcs)
    .where(and(visibleTo(ctx, nodeBmcs), isOneOf(nodeBmcs.nodeId, ids)))
  const bmcs = new Map(stored.map((bmc) => [bmc.nodeId, bmc]))
  const issues: InputIssue[] = []
  const updates = given.map((fields, i): BmcUpdate => {
    const before = bmcs.get(fields.nodeId)
    const { after, isMoved, issues: found } = updateOf(before, fields)
    issues.push(...found.map(({ path, message }) => ({ path: `${at(i)}${path}`, message })))
    return { node: byId.get(fields.nodeId)!, before, after, isMoved }
  })
  if (issues.length > 0) throw new InvalidInput(issues)
  return updates
}

/** Fields that are not given keep their values, unless the BMC is another one. */
function updateOf(before: NodeBmc | undefined, { nodeId: _, ...given }: Given) {
  const protocol = given.protocol ?? before?.protocol ?? 'REDFISH'
  const address = given.address ?? before?.address ?? ''
  const credentialId = given.credentialId ?? before?.credentialId ?? ''
  const isOther = before !== undefined && protocol !== before.protocol
  const port = given.port ?? (given.port === null || !before || isOther ? BMC_PORTS[protocol] : before.port)
  const isMoved = before !== undefined && (address !== before.address || port !== before.port || isOther)
  const kept = isMoved ? null : before
  const after: Values = {
    ...{ protocol, address, port, credentialId },
    mac: given.mac === undefined ? (kept?.mac ?? null) : given.mac,
    fingerprint: given.fingerprint === undefined ? (given.caCertificate ? null : (kept?.fingerprint ?? null)) : given.fingerprint,
    caCertificate:
      given.caCertificate === undefined
        ? given.fingerprint || isOther
          ? null
          : (before?.caCertificate ?? null)
        : given.caCertificate,
    systemPath: given.systemPath === undefined ? (isOther ? '' : (before?.systemPath ?? '')) : (given.systemPath ?? ''),
  }
  const missing = [...(address ? [] : ['address']), ...(credentialId ? [] : ['credentialId'])]
  const issues = missing.length > 0 ? missing.map((path) => ({ path, message: 'is required' })) : bmcIssues(after)
  return { after, isMoved, issues }
}

/** Rethrows the error of a write; when a BMC is not unique, as a Conflict that names the other node. */
export async function bmcConflict(ctx: Ctx, error: unknown, updates: readonly BmcUpdate[]): Promise<never> {
  if (sqlState(error) !== UNIQUE_VIOLATION || updates.length === 0) throw error
  const given = new Set(updates.map(({ node }) => node.id))
  const owners = await ownersOfBmcs(
    ctx.db,
    ctx,
    updates.map(({ after }) => after),
  )
  const owner = owners.find(({ nodeId }) => !given.has(nodeId))
  if (owner) throw new Conflict(bmcTaken(owner))
  throw new Conflict(
    updates.length > 1
      ? 'A BMC is given to two nodes, or another node got it a moment ago. Give each node its own.'
      : `The BMC ${updates[0]!.after.address} was in use a moment ago; try again.`,
  )
}
