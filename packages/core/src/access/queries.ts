import { and, asc, eq, gt, isNull, or, type SQL, sql } from 'drizzle-orm'
import type { AnyPgColumn } from 'drizzle-orm/pg-core'
import { grants } from '../grants/tables.ts'
import type { Actor } from '../kernel/context.ts'
import type { Db } from '../kernel/db/client.ts'
import { isInNetworks } from '../kernel/networks.ts'
import {
  type Authority,
  authorityOf,
  type Grant,
  perClusterPermissions,
  permissionsOfRole,
  perNodePermissions,
  type Role,
} from '../kernel/permissions.ts'
import { tokenAuthority } from './authority.ts'
import { apiTokens, type IdentityProvider, members, roles, sessions, tenants, users } from './tables.ts'
import { hashToken, looksLikeToken } from './tokens/make-token.ts'

/** Condition: neither the member nor the tenant is suspended. For queries that join both tables. */
export const isActiveMembership: SQL = and(isNull(members.suspendedAt), isNull(tenants.suspendedAt))!

/** The permissions of the custom role that `role` names in the tenant of the row; null when there is none. */
const customPermissions = (role: AnyPgColumn, tenantId: AnyPgColumn) =>
  sql<string[] | null>`(select r.permissions from ${roles} r where r.tenant_id = ${tenantId} and r.name = ${role})`
/** The grants of the member of the row. */
const grantsOfMember = sql<StoredGrant[]>`(select coalesce(json_agg(json_build_object('role', g.role, 'groupId', g.group_id,
  'templateIds', g.template_ids, 'credentialIds', g.credential_ids, 'clusterId', g.cluster_id,
  'partitions', g.partitions, 'permissions', r.permissions) order by g.id), '[]')
  from ${grants} g left join ${roles} r on r.tenant_id = g.tenant_id and r.name = g.role where g.member_id = ${members.id})`
type StoredGrant = {
  role: string
  groupId: string | null
  templateIds: string[] | null
  credentialIds: string[] | null
  clusterId: string | null
  partitions: string[] | null
  permissions: string[] | null
}
function grantOf({ role, groupId, templateIds, credentialIds, clusterId, partitions, permissions }: StoredGrant): Grant {
  const grantable = clusterId === null ? perNodePermissions() : perClusterPermissions()
  return {
    permissions: new Set([...permissionsOfRole(role, permissions)].filter((name) => grantable.has(name))),
    groupIds: groupId === null ? [] : [groupId],
    templateIds,
    credentialIds,
    cluster: clusterId === null ? null : { id: clusterId, partitions },
  }
}
const roleNamed = (name: string, custom: string[] | null): Role => ({ name, permissions: permissionsOfRole(name, custom) })

/**
 * Returns the actor of a token. Null when the token is unknown, revoked, expired or used from another network, or when its owner is
 * not an active member. Records the use, at most once a minute.
 * @param token its secret, or its ID when the caller has proven that it has the secret
 * @param address the client's address
 */
export async function findActorByToken(
  db: Db,
  token: string | { id: string },
  address: string,
): Promise<{ actor: Actor; tenantId: string; tenantName: string } | null> {
  if (typeof token === 'string' && !looksLikeToken(token)) return null
  const row = await readToken(db, typeof token === 'string' ? eq(apiTokens.hash, hashToken(token)) : eq(apiTokens.id, token.id))
  if (!row) return null
  const { id, networks, lastUsedAt, tenantId } = row.token
  if (networks.length > 0 && !isInNetworks(address, networks)) return null
  await recordTokenUse(db, id, address, lastUsedAt)
  return { actor: tokenActor(row), tenantId, tenantName: row.tenantName }
}

/** A token that is valid now, with what decides about its permissions. */
async function readToken(db: Db, which: SQL) {
  const [row] = await db
    .select({
      token: apiTokens,
      tokenPermissions: customPermissions(apiTokens.role, apiTokens.tenantId),
      ownerRole: members.role,
      ownerPermissions: customPermissions(members.role, members.tenantId),
      ownerGrants: grantsOfMember,
      isAdmin: users.isInstallationAdmin,
      tenantName: tenants.name,
    })
    .from(apiTokens)
    .innerJoin(tenants, eq(tenants.id, apiTokens.tenantId))
    .innerJoin(members, and(eq(members.tenantId, apiTokens.tenantId), eq(members.userId, apiTokens.ownerId)))
    .innerJoin(users, eq(users.id, members.userId))
    .where(and(which, isNull(apiTokens.revokedAt), gt(apiTokens.expiresAt, sql`now()`), isActiveMembership))
  return row ?? null
}

function tokenActor(row: NonNullable<Awaited<ReturnType<typeof readToken>>>): Actor {
  const owner = authorityOf(roleNamed(row.ownerRole, row.ownerPermissions), {
    isInstallationAdmin: row.isAdmin,
    grants: row.ownerGrants.map(grantOf),
  })
  const authority = tokenAuthority({ ...row.token, role: roleNamed(row.token.role, row.tokenPermissions) }, owner)
  return { kind: 'token', id: row.token.id, name: row.token.name, ...authority, userId: row.token.ownerId }
}

async function recordTokenUse(db: Db, id: string, address: string, lastUsedAt: Date | null): Promise<void> {
  if (lastUsedAt && lastUsedAt.getTime() > Date.now() - 60_000) return
  // One of several concurrent requests writes; the others do not wait.
  await db
    .update(apiTokens)
    .set({ lastUsedAt: sql`now()`, lastUsedAddress: address })
    .where(
      sql`${apiTokens.id} = (select id from api_tokens where id = ${id}
        and (last_used_at is null or last_used_at < now() - interval '1 minute') for update skip locked)`,
    )
}

/** `authority` is without permissions of the installation. */
export type Membership = { tenantId: string; tenantName: string; stepUpMinutes: number | null; authority: Authority }

/** Who decided that Muster starts something later: a user, or an API token. Null IDs: it was deleted. */
export type StoredOwner = { ownerId: string | null; isOwnedByToken: boolean; ownerTokenId: string | null }

/**
 * Returns the owner with their present permissions in the tenant, to act later on their behalf. Null when the user is not an active
 * member any more, or the token is revoked or expired.
 */
export async function findOwnerActor(db: Db, tenantId: string, owner: StoredOwner): Promise<Actor | null> {
  if (owner.isOwnedByToken) {
    const row = owner.ownerTokenId ? await readToken(db, eq(apiTokens.id, owner.ownerTokenId)) : null
    return row?.token.tenantId === tenantId ? tokenActor(row) : null
  }
  if (!owner.ownerId) return null
  const [user] = await db.select({ name: users.name }).from(users).where(eq(users.id, owner.ownerId))
  const memberships = await findMemberships(db, owner.ownerId, 'any')
  const membership = memberships.find((each) => each.tenantId === tenantId)
  return user && membership ? { kind: 'user', id: owner.ownerId, name: user.name, ...membership.authority } : null
}

/**
 * Active memberships of a user in active tenants, ordered by the date of joining. At most 500.
 * @param provider where the session began; null: not at a provider. A membership from groups at a provider is active only in sessions
 *   that began there, where its groups were read; an owner's is active in all. `any`: those of all sessions
 */
export async function findMemberships(
  db: Db,
  userId: string,
  provider: IdentityProvider | 'any' | null = null,
): Promise<Membership[]> {
  const isOfSession = or(
    isNull(members.provider),
    eq(members.role, 'owner'),
    ...(provider === null || provider === 'any' ? [] : [eq(members.provider, provider)]),
  )
  const rows = await db
    .select({
      tenantId: members.tenantId,
      tenantName: tenants.name,
      stepUpMinutes: tenants.stepUpMinutes,
      role: members.role,
      permissions: customPermissions(members.role, members.tenantId),
      grants: grantsOfMember,
    })
    .from(members)
    .innerJoin(tenants, eq(tenants.id, members.tenantId))
    .where(and(eq(members.userId, userId), isActiveMembership, provider === 'any' ? undefined : isOfSession))
    .orderBy(asc(members.createdAt), asc(members.tenantId))
    .limit(500)
  return rows.map(({ tenantId, tenantName, stepUpMinutes, role, permissions, grants }) => ({
    tenantId,
    tenantName,
    stepUpMinutes,
    authority: authorityOf(roleNamed(role, permissions), { grants: grants.map(grantOf) }),
  }))
}

/** Identity providers whose groups give the user of a session access to a tenant, in sessions that begin there. */
export async function findAccessProviders(db: Db, sessionToken: string): Promise<IdentityProvider[]> {
  const rows = await db
    .selectDistinct({ provider: members.provider })
    .from(sessions)
    .innerJoin(members, eq(members.userId, sessions.userId))
    .innerJoin(tenants, eq(tenants.id, members.tenantId))
    .where(and(eq(sessions.token, hashToken(sessionToken)), isActiveMembership))
  return rows.flatMap(({ provider }) => provider ?? [])
}

/** The ID of the tenant with this name; null when there is none, or it is suspended. */
export async function findTenantId(db: Db, name: string): Promise<string | null> {
  const [row] = await db
    .select({ id: tenants.id })
    .from(tenants)
    .where(and(eq(tenants.name, name), isNull(tenants.suspendedAt), isNull(tenants.deletedAt)))
  return row?.id ?? null
}
