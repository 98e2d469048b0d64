import { isDeepStrictEqual } from 'node:util'
import { and, asc, getColumns, isNull, sql } from 'drizzle-orm'
import { z } from 'zod'
import { audit, changeOf } from '../audit/index.ts'
import { authorizeNodes, watchGroups } from '../groups/index.ts'
import { allowedHostsBlockedReason } from '../kernel/allowed-hosts.ts'
import { authorize, type Ctx, type Tx } from '../kernel/context.ts'
import { isOneOf, notFoundOrConflict, visibleTo } from '../kernel/db/rows.ts'
import { type InputIssue, InvalidInput } from '../kernel/errors.ts'
import { Id } from '../kernel/input.ts'
import { nodeAudit } from './audit-actions.ts'
import { nodeChanged } from './change-events.ts'
import { authorizeConnectionType, checkReferences, NODE_FIELDS } from './fields.ts'
import { fingerprint } from './host-key.ts'
import { nodePermissions } from './permissions.ts'
import { updateBlockedReason } from './policy.ts'
import { computeNodes, LEAN_NODE, type LeanNode, type NodeStatus } from './tables.ts'
import { insertInterfaces, removeInterfaces } from './write-interfaces.ts'

const { displayName, sshUser, region, datacenter, rack, rackPosition, xname, nid, managementIp, ...others } = NODE_FIELDS
const { credentialId, becomeCredentialId, bastionId, ...required } = others

export const UpdateNodeInput = z.object({
  id: Id,
  ...z.object(required).partial().shape,
  ...{ displayName, sshUser, region, datacenter, rack, rackPosition, xname, nid, managementIp },
  ...{ credentialId, becomeCredentialId, bastionId },
})
export type NodeUpdate = z.output<typeof UpdateNodeInput>

/** Values of a node when another machine may answer at its address. It becomes NEW. */
const UNKNOWN = {
  hostKey: null,
  hostKeyApprovedAt: null,
  offeredHostKey: null,
  offeredHostKeyAt: null,
  readyAt: null,
  unreachableSince: null,
  unreachableReason: null,
}

/** A node before and after its update. */
export type Update = {
  before: LeanNode
  after: LeanNode
  interfaces: NodeUpdate['interfaces']
  isMoved: boolean
  isIdentified: boolean
  /** Credentials that the node did not have before. */
  attached: Partial<Pick<LeanNode, (typeof CREDENTIALS)[number]>>
}
const FIELDS = Object.keys(NODE_FIELDS).filter((field) => field in LEAN_NODE) as (keyof LeanNode)[]
const CREDENTIALS = ['credentialId', 'becomeCredentialId', 'bastionId'] as const

/**
 * Changes nodes in a few statements, with all checks of `updateNode`.
 * @param at path of a node in the caller's input
 * @param assertFree throws when another node has an xname, NID or MAC of the updates
 * @throws InvalidInput, Forbidden, NotFound
 * @throws Conflict a node is decommissioned, or a name, xname, NID or MAC is taken
 */
export async function writeNodeUpdates(
  tx: Tx,
  ctx: Ctx,
  given: readonly NodeUpdate[],
  at: (index: number) => string,
  assertFree: (updates: Update[]) => Promise<void> = async () => {},
): Promise<void> {
  for (const { connectionType } of given) authorizeConnectionType(ctx, connectionType)
  const updates = await readUpdates(tx, ctx, given)
  const ids = given.map(({ id }) => id)
  await authorizeNodes(tx, ctx, nodePermissions.write, ids)
  // Changing a local node needs the same permission as adding one.
  for (const { before } of updates) authorizeConnectionType(ctx, before.connectionType)
  await checkAttached(tx, ctx, updates, at)
  // A caller with the permission for some nodes only must not point one of them at another machine: it would get the node's credentials.
  // Nor may the caller let another machine boot as one of them.
  if (updates.some(({ isMoved, isIdentified }) => isMoved || isIdentified)) authorize(ctx, nodePermissions.write)
  await assertFree(updates)
  const assertSameGroups = await watchGroups(tx, ctx, ids)
  const statuses = await writeColumns(tx, ctx, updates, given)
  const replaced = await replaceInterfaces(tx, ctx, updates)
  if (replaced.size > 0) authorize(ctx, nodePermissions.write)
  await assertSameGroups()
  await audit(
    tx,
    ctx,
    nodeAudit.update,
    updates.map((update) => {
      const { before, interfaces } = update
      const after = { ...update.after, status: statuses.get(before.id)! }
      const old = replaced.get(before.id)
      const changed: string[] = FIELDS.filter((field) => !isDeepStrictEqual(before[field], after[field]))
      const details = {
        changed: changed.concat(old ? ['interfaces'] : []).sort(),
        ...(update.isMoved ? { from: { host: before.host, port: before.port }, to: { host: after.host, port: after.port } } : {}),
        ...(old ? { macs: { from: old.map(({ mac }) => mac), to: interfaces!.map(({ mac }) => mac) } } : {}),
        ...(update.isMoved && before.hostKey ? { droppedHostKey: fingerprint(before.hostKey) } : {}),
      }
      return { id: before.id, name: after.name, details, change: changeOf(computeNodes, before, after) }
    }),
  )
  for (const id of ids) ctx.notify(nodeChanged({ id, tenantId: ctx.tenantId }))
}

/** Locks the nodes. @returns in the order of `given` */
async function readUpdates(tx: Tx, ctx: Ctx, given: readonly NodeUpdate[]): Promise<Update[]> {
  const ids = given.map(({ id }) => id)
  const rows = await tx
    .select(LEAN_NODE)
    .from(computeNodes)
    .where(and(visibleTo(ctx, computeNodes), isOneOf(computeNodes.id, ids), isNull(computeNodes.decommissionedAt)))
    // Sorted, so that concurrent calls with the same nodes do not deadlock.
    .orderBy(asc(computeNodes.id))
    .for('no key update')
  const byId = new Map(rows.map((row) => [row.id, row]))
  const missing = ids.find((id) => !byId.has(id))
  if (missing)
    throw await notFoundOrConflict(tx, ctx, computeNodes, missing, 'node', (row) => updateBlockedReason(ctx.actor, row))
  return given.map(({ id, interfaces, ...fields }): Update => {
    const before = byId.get(id)!
    const changes = Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Partial<LeanNode>
    const isChanged = (field: keyof LeanNode) => changes[field] !== undefined && changes[field] !== before[field]
    const isMoved = isChanged('host') || isChanged('port') || isChanged('connectionType')
    return {
      before,
      after: { ...before, ...changes, ...(isMoved ? UNKNOWN : {}) },
      interfaces,
      isMoved,
      isIdentified: isChanged('xname') || isChanged('nid'),
      // A form may send the credentials that the node has already.
      attached: Object.fromEntries(CREDENTIALS.flatMap((field) => (isChanged(field) ? [[field, changes[field]]] : []))),
    }
  })
}

/** Nodes that get the same credentials are checked together. @throws InvalidInput, Forbidden */
async function checkAttached(tx: Tx, ctx: Ctx, updates: Update[], at: (index: number) => string): Promise<void> {
  const issues: InputIssue[] = []
  const indexed = updates.map((update, index) => ({ ...update, index }))
  for (const group of Map.groupBy(indexed, ({ attached }) => JSON.stringify(attached)).values()) {
    const [{ attached, index }] = group as [(typeof group)[0]]
    const nodeIds = group.map(({ before }) => before.id)
    const rows = await checkReferences(tx, ctx, attached, { nodeIds, prefix: at(index) })
    const credentialIds = Object.values(attached)
    if (credentialIds.length > 0) await authorizeNodes(tx, ctx, nodePermissions.write, nodeIds, { credentialIds })
    for (const { after, index } of group)
      for (const row of rows) {
        const message = allowedHostsBlockedReason(row, after.host)
        const field = CREDENTIALS.find((each) => attached[each] === row.id)
        if (message) issues.push({ path: `${at(index)}${field}`, message })
      }
  }
  if (issues.length > 0) throw new InvalidInput(issues)
}

/** Writes the same columns of all nodes: those that change in one of them. @returns the status by ID */
async function writeColumns(tx: Tx, ctx: Ctx, updates: Update[], given: readonly NodeUpdate[]): Promise<Map<string, NodeStatus>> {
  const columns = getColumns(computeNodes)
  const identified = updates.filter(({ isIdentified }) => isIdentified).map(({ before }) => before.id)
  const fields = new Set<keyof LeanNode>(
    given.flatMap(({ id: _id, interfaces: _interfaces, ...rest }) => Object.keys(rest) as (keyof typeof rest)[]),
  )
  if (updates.some(({ isMoved }) => isMoved)) for (const field of Object.keys(UNKNOWN)) fields.add(field as keyof LeanNode)
  if (identified.length > 0) {
    fields.add('xname').add('nid')
    // So that nodes can exchange them.
    await tx.execute(sql`update ${computeNodes} set xname = null, nid = null
      where ${visibleTo(ctx, computeNodes)} and ${isOneOf(computeNodes.id, identified)}`)
  }
  const names = [...fields].map((field) => ({ field, name: columns[field].name }))
  const records = updates.map(({ after }) => ({
    id: after.id,
    ...Object.fromEntries(names.map(({ field, name }) => [name, after[field]])),
  }))
  const set = names.map(({ name }) => sql`${sql.identifier(name)} = r.${sql.identifier(name)}`)
  const { rows } = await tx.execute<{ id: string; status: NodeStatus }>(sql`
    update ${computeNodes} set ${sql.join([...set, sql`updated_at = now()`], sql`, `)}
    from json_populate_recordset(null::${computeNodes}, ${JSON.stringify(records)}::json) as r
    where ${visibleTo(ctx, computeNodes)} and ${computeNodes.id} = r.id
    returning ${computeNodes.id}, ${computeNodes.status}`)
  return new Map(rows.map(({ id, status }) => [id, status]))
}

/** @returns the previous interfaces of the nodes that get others, by ID */
async function replaceInterfaces(tx: Tx, ctx: Ctx, updates: Update[]) {
  const wired = updates.filter(({ interfaces }) => interfaces !== undefined)
  const old = await removeInterfaces(tx, ctx, wired)
  await insertInterfaces(
    tx,
    ctx,
    wired
      .filter(({ before }) => old.has(before.id))
      .map(({ before, interfaces }) => ({ id: before.id, interfaces: interfaces! })),
  )
  return old
}
