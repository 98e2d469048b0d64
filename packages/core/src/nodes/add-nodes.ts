import { and, or, sql } from 'drizzle-orm'
import { z } from 'zod'
import { audit, changeOf } from '../audit/index.ts'
import { credentialPermissions } from '../credentials/permissions.ts'
import { watchGroups } from '../groups/index.ts'
import { allowedHostsBlockedReason } from '../kernel/allowed-hosts.ts'
import { authorize, type Ctx, inTransaction, type Tx } from '../kernel/context.ts'
import { newId } from '../kernel/db/columns.ts'
import { insertRows } from '../kernel/db/insert-rows.ts'
import { isOneOf, visibleTo } from '../kernel/db/rows.ts'
import { Conflict, type InputIssue, InvalidInput, parseInput } from '../kernel/errors.ts'
import { whileWaiting } from '../kernel/while-waiting.ts'
import { NewNode } from './add-node.ts'
import { nodeAudit } from './audit-actions.ts'
import { bmcColumns, bmcTaken, checkBmcCredentials, insertBmcs, ownersOfBmcs, placeKey } from './bmc/write-bmcs.ts'
import { nodeChanged } from './change-events.ts'
import { authorizeConnectionType, checkReferences } from './fields.ts'
import { fingerprint } from './host-key.ts'
import { identityTakenIssue } from './identity-conflict.ts'
import { assertNodeQuota } from './node-quota.ts'
import { nodePermissions } from './permissions.ts'
import { computeNodes } from './tables.ts'
import { insertInterfaces, macTaken, ownersOfMacs } from './write-interfaces.ts'

type New = z.output<typeof NewNode>

export const AddNodesInput = z.object({ nodes: z.array(NewNode).min(1).max(10_000, 'at most 10,000 at once') })

/**
 * Adds many nodes in a few statements: all of them or none. The checks, results and audit entries are those of `addNode`.
 * @throws InvalidInput at `nodes.N.field`, also when another node has the name, xname, NID, a MAC or the BMC
 * @throws Forbidden, Conflict two of the nodes share one of these, or the tenant's quota of nodes is reached
 */
export async function addNodes(ctx: Ctx, input: z.input<typeof AddNodesInput>): Promise<{ id: string; name: string }[]> {
  authorize(ctx, nodePermissions.write)
  const { nodes } = parseInput(AddNodesInput, input)
  for (const { connectionType } of nodes) authorizeConnectionType(ctx, connectionType)
  if (nodes.some(({ hostKey }) => hostKey)) {
    authorize(ctx, nodePermissions.approveHostKey)
    authorize(ctx, credentialPermissions.use)
  }
  return inTransaction(ctx, async (tx, ctx) => {
    await checkAllReferences(tx, ctx, nodes)
    const taken = await takenIssues(tx, ctx, nodes)
    if (taken.length > 0) throw new InvalidInput(taken)
    const assertNotInGrant = await watchGroups(tx, ctx, [])
    // Sorted, so that concurrent calls with the same names do not deadlock.
    const sorted = [...nodes].sort((a, b) => (a.name < b.name ? -1 : 1))
    const added = await insertNodes(tx, ctx, sorted)
    await assertNodeQuota(tx, ctx)
    await assertNotInGrant(added.map(({ id }) => id))
    await audit(tx, ctx, nodeAudit.add, added)
    for (const { id } of added) ctx.notify(nodeChanged({ id, tenantId: ctx.tenantId }))
    return added.map(({ id, name }) => ({ id, name }))
  })
}

/** @returns the nodes as objects of the audit log */
async function insertNodes(tx: Tx, ctx: Ctx, nodes: New[]) {
  const now = nodes.some(({ hostKey }) => hostKey) ? await transactionTime(tx) : null
  const rows = nodes.map(({ interfaces: _interfaces, bmc: _bmc, ...columns }) => ({
    ...columns,
    id: newId(),
    tenantId: ctx.tenantId,
    hostKeyApprovedAt: columns.hostKey ? now : null,
  }))
  const [inserted, objects] = await whileWaiting(
    insertRows(tx, computeNodes, rows, { skipConflicts: true, returning: ['id'] }),
    () => rows.map(auditObjectOf),
  )
  const ids = new Set(inserted.map(({ id }) => id))
  const missing = rows.find(({ id }) => !ids.has(id))
  if (missing)
    throw new Conflict(
      `The name, xname or NID of the node ${missing.name} is given to two nodes, or another node got it a moment ago. Give each node its own.`,
    )
  const ofNodes = nodes.map(({ interfaces, bmc }, i) => ({ id: rows[i]!.id, interfaces, bmc }))
  await insertInterfaces(tx, ctx, ofNodes)
  await insertBmcs(tx, ctx, ofNodes)
  return objects
}

function auditObjectOf(row: Omit<New, 'interfaces' | 'bmc'> & { id: string }) {
  const { id, name, host, port, hostKey } = row
  const details = { host, port, ...(hostKey ? { hostKey: fingerprint(hostKey) } : {}) }
  return { id, name, details, change: changeOf(computeNodes, null, { ...row, status: 'NEW' }) }
}

async function transactionTime(tx: Tx): Promise<Date> {
  const { rows } = await tx.execute<{ now: string }>(sql`select to_json(now()) #>> '{}' as now`)
  return new Date(rows[0]!.now)
}

/** Nodes with the same credentials are checked together. @throws InvalidInput, Forbidden */
async function checkAllReferences(tx: Tx, ctx: Ctx, nodes: New[]): Promise<void> {
  const issues: InputIssue[] = []
  const indexed = nodes.map((node, index) => ({ node, index }))
  const byIds = Map.groupBy(indexed, ({ node }) => [node.credentialId, node.becomeCredentialId, node.bastionId].join())
  for (const group of byIds.values()) {
    const { credentialId, becomeCredentialId, bastionId } = group[0]!.node
    const given = { credentialId, becomeCredentialId, bastionId }
    const rows = await checkReferences(tx, ctx, given, { prefix: `nodes.${group[0]!.index}.` })
    for (const { node, index } of group)
      for (const row of rows) {
        const message = allowedHostsBlockedReason(row, node.host)
        const field = Object.entries(given).find(([, id]) => id === row.id)?.[0]
        if (message) issues.push({ path: `nodes.${index}.${field}`, message })
      }
  }
  if (issues.length > 0) throw new InvalidInput(issues)
  const bmcs = nodes.flatMap(({ bmc }, i) => (bmc ? [{ ...bmc, path: `nodes.${i}.bmc.credentialId` }] : []))
  await checkBmcCredentials(tx, ctx, bmcs)
}

/** Issues of nodes whose name, xname, NID, MAC or BMC another node has. */
async function takenIssues(tx: Tx, ctx: Ctx, nodes: New[]): Promise<InputIssue[]> {
  const names = nodes.map(({ name }) => name)
  const xnames = nodes.flatMap(({ xname }) => xname ?? [])
  const nids = nodes.flatMap(({ nid }) => nid ?? [])
  const existing = await tx
    .select({ name: computeNodes.name, status: computeNodes.status, xname: computeNodes.xname, nid: computeNodes.nid })
    .from(computeNodes)
    .where(
      and(
        visibleTo(ctx, computeNodes),
        or(
          isOneOf(computeNodes.name, names, 'text'),
          isOneOf(computeNodes.xname, xnames, 'text'),
          sql`${computeNodes.nid} = any(${sql.param(nids)}::int[])`,
        ),
      ),
    )
  const macs = nodes.flatMap(({ interfaces }) => interfaces.map(({ mac }) => mac))
  const byMac = new Map((await ownersOfMacs(tx, ctx, macs)).map((owner) => [owner.mac, owner]))
  const places = nodes.flatMap(({ bmc }) => (bmc ? [bmcColumns(bmc)] : []))
  const byPlace = new Map((await ownersOfBmcs(tx, ctx, places)).map((owner) => [placeKey(owner), owner]))
  const byName = new Map(existing.map((node) => [node.name, node]))
  const byXname = new Map(existing.map((node) => [node.xname, node]))
  const byNid = new Map(existing.map((node) => [node.nid, node]))
  return nodes.flatMap(({ name, xname, nid, interfaces, bmc }, i) => {
    const same = byName.get(name)
    const withXname = xname ? byXname.get(xname) : undefined
    const withNid = nid == null ? undefined : byNid.get(nid)
    const withBmc = bmc ? byPlace.get(placeKey(bmcColumns(bmc))) : undefined
    const found = [
      same ? { path: 'name', message: `There is already a node named ${same.name} (${same.status}).` } : null,
      withXname ? identityTakenIssue({ xname }, withXname) : null,
      withNid ? identityTakenIssue({ nid }, withNid) : null,
      withBmc ? { path: 'bmc.address', message: bmcTaken(withBmc) } : null,
      ...interfaces.map(({ mac }, n) => {
        const owner = byMac.get(mac)
        return owner ? { path: `interfaces.${n}.mac`, message: macTaken(owner) } : null
      }),
    ]
    return found.flatMap((issue) => (issue ? [{ ...issue, path: `nodes.${i}.${issue.path}` }] : []))
  })
}
