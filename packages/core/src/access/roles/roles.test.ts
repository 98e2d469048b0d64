import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { tenantCtx } from '../../kernel/context.ts'
import { authorityOf, permissionsOfRole } from '../../kernel/permissions.ts'
import type { Ctx } from '../../registry.ts'
import type { TenantFixture } from '../../testing/factories.ts'
import { race } from '../../testing/race.ts'
import { type TestRuntime, testRuntime } from '../../testing/runtime.ts'
import { changeMemberRole } from '../members/change-member-role.ts'
import { createServiceAccount } from '../members/create-service-account.ts'
import { inviteMember } from '../members/invite-member.ts'
import { findActorByToken, findMemberships } from '../queries.ts'
import { apiTokens, members, roles } from '../tables.ts'
import { createApiToken } from '../tokens/create-api-token.ts'
import { revokeApiToken } from '../tokens/revoke-api-token.ts'
import { createRole } from './create-role.ts'
import { deleteRole } from './delete-role.ts'
import { updateRole } from './update-role.ts'

const FORBIDDEN = { code: 'FORBIDDEN' }
const CONFLICT = { code: 'CONFLICT' }
const NOT_FOUND = { code: 'NOT_FOUND' }
const INVALID = { code: 'INVALID_INPUT' }

let t: TestRuntime
let ours: TenantFixture
let theirs: TenantFixture
beforeAll(async () => {
  t = await testRuntime()
  ;[ours, theirs] = [await t.given.tenant(), await t.given.tenant()]
})
afterAll(() => t.close())

let count = 0
const newRole = (permissions: string[], ctx: Ctx = ours.owner) => createRole(ctx, { name: `role-${++count}`, permissions })
const memberOf = async (ctx: Ctx) =>
  (await t.runtime.db.query.members.findFirst({ where: { tenantId: ctx.tenantId, userId: ctx.actor.id! } }))!
/** The permissions that a signed-in user has now. */
const permissionsOf = async (ctx: Ctx) => {
  const membership = (await findMemberships(t.runtime.db, ctx.actor.id!)).find(({ tenantId }) => tenantId === ctx.tenantId)
  return [...membership!.authority.permissions].sort()
}
/** A caller in `ours` with exactly these permissions. */
const holding = (...permissions: string[]): Ctx =>
  tenantCtx(t.runtime, ours.tenant.id, {
    kind: 'user',
    id: ours.viewer.actor.id!,
    name: 'limited',
    ...authorityOf({ name: 'limited', permissions: new Set(['tenant:read', ...permissions]) }),
  })
const actorOf = async (token: string) => (await findActorByToken(t.runtime.db, token, '192.0.2.1'))!.actor
const tokenPermissionsOf = async (token: string) => {
  const actor = await actorOf(token)
  return actor.kind === 'token' ? [...actor.permissions].sort() : []
}

describe('custom roles', () => {
  test('give their permissions and tenant:read, and changes apply with the next use', async () => {
    const { viewer, owner } = await t.given.tenant()
    const role = await newRole(['job_run:start'], owner)
    await changeMemberRole(owner, { id: (await memberOf(viewer)).id, role: role.name })
    expect(await permissionsOf(viewer)).toEqual(['job_run:start', 'tenant:read'])
    await updateRole(owner, { name: role.name, permissions: ['node:write'], description: 'caretakers' })
    expect(await permissionsOf(viewer)).toEqual(['node:write', 'tenant:read'])
    expect(t.changeEvents).toContainEqual(expect.objectContaining({ id: role.id, tenantId: owner.tenantId }))
  })

  test('a role that does not exist gives no permission', async () => {
    const { viewer } = await t.given.tenant()
    await t.runtime.db.update(members).set({ role: 'ghost' }).where(eq(members.userId, viewer.actor.id!))
    expect(await permissionsOf(viewer)).toEqual([])
  })

  test('a role of another tenant does not exist', async () => {
    const role = await newRole(['node:write'], theirs.owner)
    const member = await memberOf(ours.viewer)
    await expect(changeMemberRole(ours.owner, { id: member.id, role: role.name })).rejects.toMatchObject(INVALID)
    await expect(updateRole(ours.owner, { name: role.name, permissions: [] })).rejects.toMatchObject(NOT_FOUND)
    await expect(deleteRole(ours.owner, { name: role.name })).rejects.toMatchObject(NOT_FOUND)
  })

  test('cannot hold permissions outside of a tenant', () => {
    const all = ['tenant:manage', 'credential:decrypt', 'no:such', 'node:write']
    expect([...permissionsOfRole('custom', all)]).toEqual(['tenant:read', 'node:write'])
    expect(permissionsOfRole('custom', null).size).toBe(0)
  })

  test.each([['tenant:manage'], ['credential:decrypt'], ['no:such']])('rejects the permission %s', async (name) => {
    await expect(newRole([name])).rejects.toMatchObject(INVALID)
  })

  test.each(['owner', 'Viewer', '', 'two words', '-a', 'a'.repeat(64)])('rejects the name %j', async (name) => {
    await expect(createRole(ours.owner, { name, permissions: [] })).rejects.toMatchObject(INVALID)
  })

  test('a name is used once, and built-in roles never change', async () => {
    const { name } = await newRole([])
    await expect(createRole(ours.owner, { name: name.toUpperCase(), permissions: [] })).rejects.toMatchObject(CONFLICT)
    await expect(updateRole(ours.owner, { name: 'viewer', permissions: [] })).rejects.toThrow(/built in/)
    await expect(deleteRole(ours.owner, { name: 'viewer' })).rejects.toThrow(/built in/)
  })
})

describe('no one gains permissions that they do not hold', () => {
  const author = () => holding('role:write', 'member:write', 'token:write')

  test('by a new role', async () => {
    await expect(newRole(['node:write'], author())).rejects.toThrow(/does not: node:write/)
    expect(await newRole(['member:write'], author())).toMatchObject({ permissions: ['member:write'] })
  })

  test('by changing or deleting a role', async () => {
    const mine = await newRole(['member:write'])
    const more = await newRole(['node:write'])
    await expect(updateRole(author(), { name: mine.name, permissions: ['node:write'] })).rejects.toMatchObject(FORBIDDEN)
    await expect(updateRole(author(), { name: more.name, permissions: [] })).rejects.toMatchObject(FORBIDDEN)
    await expect(deleteRole(author(), { name: more.name })).rejects.toMatchObject(FORBIDDEN)
    await expect(updateRole(holding(), { name: mine.name, permissions: [] })).rejects.toMatchObject(FORBIDDEN)
    expect(await updateRole(author(), { name: mine.name, permissions: [] })).toMatchObject({ permissions: [] })
  })

  test('by granting a role', async () => {
    const role = (await newRole(['node:write'])).name
    const { id } = await memberOf(ours.viewer)
    const calls: [string, () => Promise<unknown>][] = [
      ['changeMemberRole', () => changeMemberRole(author(), { id, role })],
      ['inviteMember', () => inviteMember(author(), { email: 'more@x.test', role })],
      ['createServiceAccount', () => createServiceAccount(author(), { name: 'more', role })],
      ['createApiToken', () => createApiToken(author(), { name: 'more', role })],
    ]
    for (const [name, call] of calls) await expect(call(), name).rejects.toMatchObject(FORBIDDEN)
  })

  test('by changing a member with a custom role that has more permissions', async () => {
    const { viewer, owner, admin } = await t.given.tenant()
    const { name } = await newRole(['audit:write'], owner)
    const { id } = await memberOf(viewer)
    await changeMemberRole(owner, { id, role: name })
    await expect(changeMemberRole(admin, { id, role: 'viewer' })).rejects.toThrow(/permissions that you do not hold/)
  })
})

describe('deleting a role', () => {
  test('is rejected while a member, an open invitation or a valid token has it', async () => {
    const { owner, viewer } = await t.given.tenant()
    const { id, name } = await newRole(['job_run:start'], owner)
    const member = await memberOf(viewer)
    await changeMemberRole(owner, { id: member.id, role: name })
    await inviteMember(owner, { email: 'new@x.test', role: name })
    const { apiToken } = await createApiToken(owner, { name: 'ci', role: name })
    const why = deleteRole(owner, { name })
    await expect(why).rejects.toMatchObject(CONFLICT)
    await expect(why).rejects.toThrow(/the API token ci, the invitation of new@x.test, the member viewer of/)
    await changeMemberRole(owner, { id: member.id, role: 'viewer' })
    await inviteMember(owner, { email: 'new@x.test', role: 'viewer' })
    await revokeApiToken(owner, { id: apiToken.id })
    expect(await deleteRole(owner, { name })).toEqual({ name })
    expect(await t.runtime.db.$count(roles, eq(roles.id, id))).toBe(0)
  })

  test('leaves no member with the role when it is granted concurrently', async () => {
    const { owner, viewer } = await t.given.tenant()
    const member = await memberOf(viewer)
    for (let i = 0; i < 5; i++) {
      const { name } = await newRole([], owner)
      const { won } = await race<unknown>(deleteRole(owner, { name }), changeMemberRole(owner, { id: member.id, role: name }))
      expect(won).toHaveLength(1)
      await changeMemberRole(owner, { id: member.id, role: 'viewer' })
    }
  })
})

describe('permissions of a token', () => {
  test('are a part of its role', async () => {
    const create = (permissions: string[]) => createApiToken(ours.operator, { name: 'ci', role: 'operator', permissions })
    const { token, apiToken } = await create(['job_run:start'])
    expect(apiToken.permissions).toEqual(['job_run:start', 'tenant:read'])
    expect(await tokenPermissionsOf(token)).toEqual(['job_run:start', 'tenant:read'])
    await expect(create(['credential:write'])).rejects.toMatchObject(INVALID)
    // Of a stronger role, a part that the caller holds.
    const { token: part } = await createApiToken(ours.operator, { name: 'p', role: 'admin', permissions: ['node:write'] })
    expect(await tokenPermissionsOf(part)).toEqual(['node:write', 'tenant:read'])
  })

  test('shrink with those of its owner', async () => {
    const { operator, admin } = await t.given.tenant()
    const { token } = await createApiToken(operator, {
      name: 'ci',
      role: 'operator',
      permissions: ['job_run:start', 'node:write'],
    })
    const { name } = await newRole(['node:write', 'group:write'], admin)
    await changeMemberRole(admin, { id: (await memberOf(operator)).id, role: name })
    expect(await tokenPermissionsOf(token)).toEqual(['node:write', 'tenant:read'])
    await t.runtime.db.update(members).set({ role: 'ghost' }).where(eq(members.userId, operator.actor.id!))
    expect(await tokenPermissionsOf(token)).toEqual([])
  })

  test('are at most those of the token that creates it, whatever its role gets later', async () => {
    const { owner } = await t.given.tenant()
    const { name } = await newRole(['job_run:start'], owner)
    const parent = await createApiToken(owner, {
      name: 'parent',
      role: 'operator',
      permissions: ['token:write', 'job_run:start'],
    })
    const ctx = tenantCtx(t.runtime, owner.tenantId, await actorOf(parent.token))
    await expect(createApiToken(ctx, { name: 'x', role: 'operator' })).rejects.toMatchObject(FORBIDDEN)
    await expect(createApiToken(ctx, { name: 'x', role: 'operator', permissions: ['node:write'] })).rejects.toMatchObject(
      FORBIDDEN,
    )
    const child = await createApiToken(ctx, { name: 'child', role: name })
    await updateRole(owner, { name, permissions: ['job_run:start', 'node:write'] })
    expect(await tokenPermissionsOf(child.token)).toEqual(['job_run:start', 'tenant:read'])
    expect((await t.runtime.db.select().from(apiTokens).where(eq(apiTokens.id, child.apiToken.id)))[0]).toMatchObject({
      role: name,
    })
  })
})
