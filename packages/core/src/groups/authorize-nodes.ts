import { and, type SQL, sql } from 'drizzle-orm'
import { credentials } from '../credentials/tables.ts'
import { type Actor, type Ctx, permissionDeniedReason, type Tx } from '../kernel/context.ts'
import { isOneOf, visibleTo } from '../kernel/db/rows.ts'
import { Forbidden, NotFound } from '../kernel/errors.ts'
import { listedNames } from '../kernel/names.ts'
import type { Grant, Permission } from '../kernel/permissions.ts'
import { computeNodes } from '../nodes/tables.ts'
import { type GroupTree, groupsOfNodes, isInGroup, readGroupTree } from './group-tree.ts'

type Db = Tx | Ctx['db']

/** What a verb uses on nodes, which grants may restrict. */
export type Use = {
  /** The job template of a run; a null ID: it was deleted. Undefined: no run. */
  template?: { id: string | null; name: string }
  /** Whether the verb connects to the nodes: with their credentials and bastions. */
  connects?: boolean
  /** Further credentials. */
  credentialIds?: readonly (string | null | undefined)[]
}

const grantsOf = (actor: Actor, permission: Permission): Grant[] =>
  'grants' in actor ? actor.grants.filter(({ permissions, cluster }) => cluster === null && permissions.has(permission.name)) : []

/**
 * Checks that the caller holds `permission` for each of these nodes: in the whole tenant, which takes no statement, or through grants.
 * All or nothing. Call it with the nodes that the verb acts on, in its transaction.
 * @throws Forbidden names the nodes outside, and the groups that the grants cover; NotFound a node
 */
export async function authorizeNodes(
  db: Db,
  ctx: Ctx,
  permission: Permission,
  nodeIds: readonly string[],
  use: Use = {},
): Promise<void> {
  const denied = permissionDeniedReason(ctx.actor, permission)
  if (denied === null) return
  const held = permission.isPerNode ? grantsOf(ctx.actor, permission) : []
  if (held.length === 0) throw new Forbidden(denied)
  const { template } = use
  const grants = held.filter(
    ({ templateIds }) => !template || templateIds === null || (template.id !== null && templateIds.includes(template.id)),
  )
  if (grants.length === 0)
    throw new Forbidden(
      `${permission.name}: your grants do not include the job template ${template!.name}. Ask an administrator for it.`,
    )
  const tree = await readGroupTree(db, ctx)
  const nodes = await readNodes(db, ctx, tree, grants, nodeIds)
  const outside = nodes.filter(({ covered }) => !covered.includes(true)).map(({ name }) => name)
  if (outside.length > 0) throw new Forbidden(outsideReason(permission, outside, tree, grants))
  const bastions = use.connects ? await bastionsOf(db, ctx, nodes, grants) : new Map<string, string[]>()
  const blocked = nodes.flatMap(({ name, covered, credentialId, becomeCredentialId, bastionId }) => {
    const logins = use.connects
      ? [credentialId, becomeCredentialId, ...(bastionId ? (bastions.get(bastionId) ?? [bastionId]) : [])]
      : []
    const used = [...logins, ...(use.credentialIds ?? [])].filter((id) => id !== null && id !== undefined)
    const missing = grants.map(({ credentialIds }, i) =>
      covered[i] ? used.filter((id) => credentialIds !== null && !credentialIds.includes(id)) : null,
    )
    const fewest = missing.filter((ids) => ids !== null).sort((a, b) => a.length - b.length)[0]!
    return fewest.length > 0 ? [{ name, missing: fewest }] : []
  })
  if (blocked.length === 0) return
  const names = await namesOf(db, ctx, [...new Set(blocked.flatMap(({ missing }) => missing))])
  const on = listedNames(blocked.map(({ name }) => name))
  throw new Forbidden(
    `${permission.name}: your grants do not include the ${names.length === 1 ? 'credential' : 'credentials'} ${listedNames(names)}, needed for ${on}. Ask an administrator for it.`,
  )
}

/**
 * Checks that the caller holds `permission` for all nodes that are or will be in the group: in the whole tenant, or through a grant for
 * the group or a group above it.
 * @throws Forbidden
 */
export async function authorizeGroup(db: Db, ctx: Ctx, permission: Permission, groupId: string): Promise<void> {
  const denied = permissionDeniedReason(ctx.actor, permission)
  if (denied === null) return
  const held = permission.isPerNode ? grantsOf(ctx.actor, permission) : []
  if (held.length === 0) throw new Forbidden(denied)
  const tree = await readGroupTree(db, ctx)
  const group = tree.byId.get(groupId)
  if (!group) throw new NotFound(`There is no group ${groupId}.`)
  const above = new Set(tree.upwards(group).map(({ id }) => id))
  if (!held.some(({ groupIds }) => groupIds.every((id) => above.has(id))))
    throw new Forbidden(outsideReason(permission, [`the group ${group.name}`], tree, held))
}

/** The grants of the caller that give something on nodes beyond what it holds in the whole tenant. */
const widerGrants = (actor: Actor): Grant[] =>
  'grants' in actor
    ? actor.grants.filter(
        ({ permissions, cluster }) => cluster === null && [...permissions].some((name) => !actor.permissions.has(name)),
      )
    : []

/**
 * Checks, when a caller with grants changes a group, that it is not one that decides about them.
 * @param groupIds the groups that get other members, and parents before and after
 * @throws Forbidden
 */
export async function assertNotOwnGrant(tx: Tx, ctx: Ctx, groupIds: readonly (string | null)[]): Promise<void> {
  const granted = new Set(widerGrants(ctx.actor).flatMap((grant) => grant.groupIds))
  if (granted.size === 0) return
  const tree = await readGroupTree(tx, ctx)
  const own = groupIds
    .flatMap((id) => tree.byId.get(id ?? '') ?? [])
    .flatMap((group) => tree.upwards(group))
    .find(({ id }) => granted.has(id))
  if (own)
    throw new Forbidden(
      `You hold permissions for the nodes of the group ${own.name} through a grant, so somebody else must change what is in it.`,
    )
}

/**
 * For a verb that changes or adds nodes: a caller with grants must not move nodes between groups by it, because grants and variables of
 * groups would then apply to other nodes.
 * @returns a function for after the change, which throws Forbidden when the groups of a node differ; new nodes have none before
 */
export async function watchGroups(
  tx: Tx,
  ctx: Ctx,
  nodeIds: readonly string[],
): Promise<(added?: readonly string[]) => Promise<void>> {
  const grants = widerGrants(ctx.actor)
  if (grants.length === 0) return async () => {}
  const read = async (ids: readonly string[]) => {
    const groups = await groupsOfNodes(tx, ctx, [...ids])
    return new Map([...groups].map(([id, list]) => [id, new Set(list.map(({ name }) => name))]))
  }
  const before = await read(nodeIds)
  return async (added = []) => {
    const after = await read([...nodeIds, ...added])
    const granted = new Set(grants.flatMap(({ groupIds }) => groupIds))
    const tree = await readGroupTree(tx, ctx)
    const isGranted = (name: string) => granted.has(tree.byName.get(name)?.id ?? '')
    const moved = [...after].flatMap(([id, names]) => {
      const known = before.get(id)
      return known
        ? [...names].filter((n) => !known.has(n)).concat([...known].filter((n) => !names.has(n)))
        : [...names].filter(isGranted)
    })
    if (moved.length > 0)
      throw new Forbidden(
        `You hold permissions through grants, and this would move nodes into or out of the groups ${listedNames([...new Set(moved)].sort())}. Somebody without grants must do it.`,
      )
  }
}

function outsideReason(permission: Permission, outside: readonly string[], tree: GroupTree, grants: readonly Grant[]): string {
  const groups = grants.map(({ groupIds }) => groupIds.map((id) => tree.byId.get(id)?.name ?? 'a deleted group').join(' and '))
  return `${permission.name}: your grants cover only the nodes of ${listedNames([...new Set(groups)].sort())}, not ${listedNames(outside)}. Choose other nodes, or ask an administrator for a grant.`
}

type GrantedNode = {
  id: string
  name: string
  credentialId: string | null
  becomeCredentialId: string | null
  bastionId: string | null
  /** Whether the node is in the groups of each grant. */
  covered: boolean[]
}

async function readNodes(db: Db, ctx: Ctx, tree: GroupTree, grants: Grant[], nodeIds: readonly string[]): Promise<GrantedNode[]> {
  const isCovered = ({ groupIds }: Grant): SQL =>
    and(
      ...groupIds.map((id) => {
        const group = tree.byId.get(id)
        return group ? isInGroup(tree, [group.name], computeNodes) : sql`false`
      }),
    ) ?? sql`true`
  const wanted = [...new Set(nodeIds)]
  const nodes: GrantedNode[] = await db
    .select({
      id: computeNodes.id,
      name: computeNodes.name,
      credentialId: computeNodes.credentialId,
      becomeCredentialId: computeNodes.becomeCredentialId,
      bastionId: computeNodes.bastionId,
      covered: sql<boolean[]>`array[${sql.join(grants.map(isCovered), sql`, `)}]`,
    })
    .from(computeNodes)
    .where(and(visibleTo(ctx, computeNodes), isOneOf(computeNodes.id, wanted)))
    .orderBy(computeNodes.name)
  if (nodes.length === wanted.length) return nodes
  const known = new Set(nodes.map(({ id }) => id))
  throw new NotFound(`There is no node ${wanted.find((id) => !known.has(id))}.`)
}

/** Each bastion of the nodes with those in front of it, by its ID. Read only when a grant restricts credentials. */
async function bastionsOf(db: Db, ctx: Ctx, nodes: GrantedNode[], grants: Grant[]): Promise<Map<string, string[]>> {
  const ids = [...new Set(nodes.flatMap(({ bastionId }) => bastionId ?? []))]
  if (ids.length === 0 || grants.every(({ credentialIds }) => credentialIds === null)) return new Map()
  const { rows } = await db.execute<{ start: string; id: string }>(sql`
    with recursive way as (
      select c.id as start, c.id, c.via_id from ${credentials} c where c.tenant_id = ${ctx.tenantId} and c.id = any(${sql.param(ids)}::uuid[])
      union select w.start, c.id, c.via_id from ${credentials} c join way w on c.id = w.via_id where c.tenant_id = ${ctx.tenantId})
    select start, id from way`)
  const byStart = Map.groupBy(rows, ({ start }) => start)
  return new Map([...byStart].map(([start, way]) => [start, way.map(({ id }) => id)]))
}

async function namesOf(db: Db, ctx: Ctx, ids: string[]): Promise<string[]> {
  const rows = await db
    .select({ name: credentials.name })
    .from(credentials)
    .where(and(visibleTo(ctx, credentials), isOneOf(credentials.id, ids)))
    .orderBy(credentials.name)
  return rows.map(({ name }) => name)
}
