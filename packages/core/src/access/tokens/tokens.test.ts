import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { auditEntries } from '../../audit/index.ts'
import { tenantCtx } from '../../kernel/context.ts'
import { isInNetworks, Network, networkOutside } from '../../kernel/networks.ts'
import { actorRole } from '../../kernel/permissions.ts'
import type { Ctx } from '../../registry.ts'
import type { TenantFixture } from '../../testing/factories.ts'
import { race } from '../../testing/race.ts'
import { type TestRuntime, testRuntime } from '../../testing/runtime.ts'
import { changeMemberRole } from '../members/change-member-role.ts'
import { createServiceAccount } from '../members/create-service-account.ts'
import { removeMember } from '../members/remove-member.ts'
import { resumeMember } from '../members/resume-member.ts'
import { suspendMember } from '../members/suspend-member.ts'
import { findActorByToken } from '../queries.ts'
import { apiTokens } from '../tables.ts'
import { createApiToken } from './create-api-token.ts'
import { revokeApiToken } from './revoke-api-token.ts'

const HERE = '192.0.2.1'
const DAY_S = 86_400

let t: TestRuntime
let fixture: TenantFixture
beforeAll(async () => {
  t = await testRuntime()
  fixture = await t.given.tenant()
})
afterAll(() => t.close())

const memberOf = async ({ actor, tenantId }: Ctx) =>
  (await t.runtime.db.query.members.findFirst({ where: { tenantId, userId: actor.id! } }))!
/** The caller that presents `token`. */
async function asToken(token: string, address = HERE): Promise<Ctx> {
  const found = await findActorByToken(t.runtime.db, token, address)
  return tenantCtx(t.runtime, found!.tenantId, found!.actor)
}
const works = async (token: string, address = HERE) => (await findActorByToken(t.runtime.db, token, address)) !== null

describe('API tokens', () => {
  test('a token authenticates its tenant and role until it is revoked; only its hash is stored', async () => {
    const { token, apiToken } = await createApiToken(fixture.operator, { name: 'ci', role: 'operator' })
    expect(token).toMatch(/^mst_[A-Za-z0-9_-]{43}$/)
    expect(apiToken).toMatchObject({
      prefix: token.slice(0, 12),
      expiresAt: expect.any(Date),
      createdById: fixture.operator.actor.id,
    })
    const [row] = await t.runtime.db.select().from(apiTokens).where(eq(apiTokens.id, apiToken.id))
    const written = JSON.stringify([
      row,
      await t.runtime.db.select().from(auditEntries).where(eq(auditEntries.objectId, apiToken.id)),
    ])
    expect(written).toContain(apiToken.prefix)
    expect(written).not.toContain(token.slice(12))
    expect(await findActorByToken(t.runtime.db, token, HERE)).toEqual({
      actor: { kind: 'token', id: apiToken.id, name: 'ci', ...actorRole('operator'), userId: fixture.operator.actor.id },
      tenantId: fixture.tenant.id,
      tenantName: fixture.tenant.name,
    })
    expect(await revokeApiToken(fixture.operator, { id: apiToken.id })).toMatchObject({ revokedAt: expect.any(Date) })
    expect(await findActorByToken(t.runtime.db, token, HERE)).toBeNull()
    await expect(revokeApiToken(fixture.operator, { id: apiToken.id })).rejects.toMatchObject({ code: 'CONFLICT' })
  })

  test('rejects an expired token', async () => {
    const { token, apiToken } = await createApiToken(fixture.operator, {
      name: 'short',
      role: 'viewer',
      expiresInSeconds: 86_400,
    })
    expect(apiToken.expiresAt!.getTime()).toBeGreaterThan(Date.now() + 23 * 3600_000)
    await t.runtime.db
      .update(apiTokens)
      .set({ expiresAt: new Date(Date.now() - 1000) })
      .where(eq(apiTokens.id, apiToken.id))
    expect(await findActorByToken(t.runtime.db, token, HERE)).toBeNull()
  })

  test.each(['', 'mst_', 'mst_x', `mst_${'a'.repeat(43)}`, `mst_${'a'.repeat(42)}\u0000`, "mst_' or 1=1 --"])(
    'rejects %j',
    async (token) => {
      expect(await findActorByToken(t.runtime.db, token, HERE)).toBeNull()
    },
  )

  test('records the last use at most once a minute', async () => {
    const { token, apiToken } = await createApiToken(fixture.operator, { name: 'busy', role: 'viewer' })
    const lastUse = async () => (await t.runtime.db.select().from(apiTokens).where(eq(apiTokens.id, apiToken.id)))[0]!.lastUsedAt
    const found = await Promise.all(Array.from({ length: 10 }, () => findActorByToken(t.runtime.db, token, HERE)))
    expect(found.every((f) => f !== null)).toBe(true)
    const first = await lastUse()
    expect(first).not.toBeNull()
    await findActorByToken(t.runtime.db, token, HERE)
    expect(await lastUse()).toEqual(first)
    const past = new Date(Date.now() - 61_000)
    await t.runtime.db.update(apiTokens).set({ lastUsedAt: past }).where(eq(apiTokens.id, apiToken.id))
    await findActorByToken(t.runtime.db, token, HERE)
    expect((await lastUse())!.getTime()).toBeGreaterThan(past.getTime())
  })

  test('members revoke their own tokens and admins all; only one of two concurrent calls succeeds', async () => {
    const { apiToken } = await createApiToken(fixture.owner, { name: 'boss', role: 'viewer' })
    await expect(revokeApiToken(fixture.operator, { id: apiToken.id })).rejects.toMatchObject({ code: 'FORBIDDEN' })
    const { won, lost } = await race(
      revokeApiToken(fixture.admin, { id: apiToken.id }),
      revokeApiToken(fixture.owner, { id: apiToken.id }),
    )
    expect([won.length, lost.map((e) => e.name)]).toEqual([1, ['Conflict']])
  })
})

test('the token of a service account cannot administer the installation', async () => {
  await expect(
    createApiToken(fixture.installationAdmin, {
      name: 'bot',
      role: 'viewer',
      isInstallationAdmin: true,
      serviceAccountId: crypto.randomUUID(),
    }),
  ).rejects.toMatchObject({ issues: [{ path: 'isInstallationAdmin', message: expect.stringContaining('only a person') }] })
})

describe('lifetime', () => {
  test('is 90 days by default and at most what the installation allows', async () => {
    const { apiToken } = await createApiToken(fixture.operator, { name: 'default', role: 'viewer' })
    const days = (apiToken.expiresAt.getTime() - apiToken.createdAt.getTime()) / (DAY_S * 1000)
    expect(days).toBeCloseTo(90, 3)
    const short = await createApiToken(fixture.operator, { name: 'short', role: 'viewer' }, { maxDays: 7 })
    expect((short.apiToken.expiresAt.getTime() - short.apiToken.createdAt.getTime()) / (DAY_S * 1000)).toBeCloseTo(7, 3)
    const long = { name: 'long', role: 'viewer', expiresInSeconds: 8 * DAY_S } as const
    await expect(createApiToken(fixture.operator, long, { maxDays: 7 })).rejects.toThrow(/at most 604800 \(7 days\)/)
  })
})

describe('a token that creates tokens', () => {
  test('passes on at most its own lifetime, role and networks', async () => {
    const parent = await createApiToken(fixture.operator, {
      name: 'parent',
      role: 'operator',
      expiresInSeconds: 10 * DAY_S,
      networks: ['192.0.2.0/24', '2001:db8::/32'],
    })
    const ctx = await asToken(parent.token)
    const child = await createApiToken(ctx, { name: 'child', role: 'viewer' })
    expect(child.apiToken.expiresAt).toEqual(parent.apiToken.expiresAt)
    expect(child.apiToken).toMatchObject({ networks: parent.apiToken.networks, ownerId: fixture.operator.actor.id })
    const create = (fields: object) => createApiToken(ctx, { name: 'x', role: 'viewer', ...fields })
    await expect(create({ expiresInSeconds: 11 * DAY_S })).rejects.toThrow(/your own token expires/)
    await expect(create({ networks: ['192.0.0.0/16'] })).rejects.toThrow(/outside the networks/)
    await expect(create({ role: 'admin' })).rejects.toMatchObject({ code: 'FORBIDDEN' })
    expect((await create({ networks: ['192.0.2.128/25'] })).apiToken.networks).toEqual(['192.0.2.128/25'])
  })

  test('revokes them when it is revoked', async () => {
    const parent = await createApiToken(fixture.operator, { name: 'parent', role: 'operator' })
    const child = await createApiToken(await asToken(parent.token), { name: 'child', role: 'operator' })
    const grandchild = await createApiToken(await asToken(child.token), { name: 'grandchild', role: 'viewer' })
    await revokeApiToken(fixture.operator, { id: parent.apiToken.id })
    expect(await Promise.all([parent, child, grandchild].map(({ token }) => works(token)))).toEqual([false, false, false])
    const entries = await t.runtime.db.select().from(auditEntries).where(eq(auditEntries.objectId, grandchild.apiToken.id))
    expect(entries.map(({ action }) => action)).toEqual(['api_token.create', 'api_token.revoke'])
  })

  test('leaves no valid token behind when it creates one while it is revoked', async () => {
    for (let i = 0; i < 5; i++) {
      const parent = await createApiToken(fixture.operator, { name: 'parent', role: 'operator' })
      const ctx = await asToken(parent.token)
      const [child] = await Promise.allSettled([
        createApiToken(ctx, { name: 'child', role: 'viewer' }),
        revokeApiToken(fixture.admin, { id: parent.apiToken.id }),
      ])
      if (child.status === 'fulfilled') expect(await works(child.value.token)).toBe(false)
      else expect(child.reason).toMatchObject({ code: 'FORBIDDEN' })
    }
  })
})

describe('networks', () => {
  test('a token works only from its networks', async () => {
    const { token, apiToken } = await createApiToken(fixture.operator, {
      name: 'here',
      role: 'viewer',
      networks: ['10.1.0.0/16', '2001:DB8::1'],
    })
    expect(apiToken.networks).toEqual(['10.1.0.0/16', '2001:db8::1/128'])
    for (const address of ['10.1.2.3', '::ffff:10.1.2.3', '2001:db8::1']) expect(await works(token, address), address).toBe(true)
    for (const address of ['10.2.0.1', '2001:db8::2', '', 'unknown', '127.0.0.1'])
      expect(await works(token, address), address).toBe(false)
    const [row] = await t.runtime.db.select().from(apiTokens).where(eq(apiTokens.id, apiToken.id))
    expect(row!.lastUsedAddress).toBe('10.1.2.3')
  })

  test.each(['10.0.0.0/33', '10.0.0/8', 'example.com', '::/129', '10.0.0.0/', '', '1.2.3.4/8/8'])('rejects %j', (text) => {
    expect(Network.safeParse(text).success).toBe(false)
  })

  test('finds networks outside of others', () => {
    expect(networkOutside(['10.1.0.0/16'], ['10.0.0.0/8'])).toBeNull()
    expect(networkOutside(['10.0.0.0/7'], ['10.0.0.0/8'])).toBe('10.0.0.0/7')
    expect(networkOutside(['::/0'], ['0.0.0.0/0'])).toBe('::/0')
    expect(networkOutside(['10.0.0.1/32', '11.0.0.0/8'], ['10.0.0.0/8'])).toBe('11.0.0.0/8')
    expect(isInNetworks('10.0.0.1', [])).toBe(false)
  })
})

describe('the owner of a token', () => {
  test('passes on only the role that it has now', async () => {
    const { operator, admin } = await t.given.tenant()
    const { token } = await createApiToken(operator, { name: 'ci', role: 'operator' })
    const { id } = await memberOf(operator)
    await changeMemberRole(admin, { id, role: 'viewer' })
    expect((await asToken(token)).actor).toMatchObject({ role: 'viewer' })
    await changeMemberRole(admin, { id, role: 'admin' })
    expect((await asToken(token)).actor).toMatchObject({ role: 'operator' })
  })

  test('keeps its tokens from working while it is suspended, and loses them when it is removed', async () => {
    const { operator, admin } = await t.given.tenant()
    const { token, apiToken } = await createApiToken(operator, { name: 'ci', role: 'operator' })
    const { id } = await memberOf(operator)
    await suspendMember(admin, { id })
    expect(await works(token)).toBe(false)
    await resumeMember(admin, { id })
    expect(await works(token)).toBe(true)
    await removeMember(admin, { id })
    expect(await works(token)).toBe(false)
    const [row] = await t.runtime.db.select().from(apiTokens).where(eq(apiTokens.id, apiToken.id))
    expect(row).toMatchObject({ revokedAt: expect.any(Date), revokedById: admin.actor.id })
  })

  test('may be a service account: its tokens stay valid when the member who created them is removed', async () => {
    const { owner, admin, operator } = await t.given.tenant()
    const account = await createServiceAccount(admin, { name: 'ci', role: 'operator' })
    const create = (ctx: Ctx, serviceAccountId: string) => createApiToken(ctx, { name: 'ci', role: 'operator', serviceAccountId })
    const { token } = await create(admin, account.id)
    expect((await asToken(token)).actor).toMatchObject({ userId: account.userId, role: 'operator' })
    await removeMember(owner, { id: (await memberOf(admin)).id })
    expect(await works(token)).toBe(true)
    await expect(create(operator, account.id)).rejects.toMatchObject({ code: 'FORBIDDEN' })
    await expect(create(fixture.admin, account.id)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(create(owner, (await memberOf(operator)).id)).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await removeMember(owner, { id: account.id })
    expect(await works(token)).toBe(false)
  })
})
