import { and, eq } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { auditEntries } from '../audit/index.ts'
import { updateBuiltInTemplates } from '../templates/index.ts'
import { jobTemplates } from '../templates/tables.ts'
import type { TenantFixture } from '../testing/factories.ts'
import { race } from '../testing/race.ts'
import { type TestRuntime, testRuntime } from '../testing/runtime.ts'
import { addMember } from './add-member.ts'
import { createApiToken } from './create-api-token.ts'
import { createTenant } from './create-tenant.ts'
import { findActorByToken, findMembership } from './queries.ts'
import { revokeApiToken } from './revoke-api-token.ts'
import { apiTokens, members, users } from './tables.ts'

let t: TestRuntime
let fixture: TenantFixture
beforeAll(async () => {
  t = await testRuntime()
  fixture = await t.given.tenant()
})
afterAll(() => t.close())

const aUser = async (email: string) => (await t.runtime.db.insert(users).values({ name: email, email }).returning())[0]!

describe('createTenant', () => {
  test('creates the built-in templates', async () => {
    const tenant = await createTenant(t.runtime, { name: 'fresh' })
    const templates = await t.runtime.db.select().from(jobTemplates).where(eq(jobTemplates.tenantId, tenant.id))
    expect(templates.map((x) => x.name)).toEqual(expect.arrayContaining(['connectivity_check', 'collect_facts']))
  })

  test('a later version updates the built-in templates and no others', async () => {
    const { db } = t.runtime
    const tenant = await createTenant(t.runtime, { name: 'grown' })
    const named = (name: string) => and(eq(jobTemplates.tenantId, tenant.id), eq(jobTemplates.name, name))
    await db.delete(jobTemplates).where(named('install_amd_driver'))
    await db.update(jobTemplates).set({ description: 'old', inputSchema: null }).where(named('install_nvidia_driver'))
    await db.update(jobTemplates).set({ isSystem: false, description: 'mine' }).where(named('deploy_node_exporter'))
    await Promise.all([updateBuiltInTemplates(t.runtime), updateBuiltInTemplates(t.runtime)])
    const now = new Map(
      (await db.select().from(jobTemplates).where(eq(jobTemplates.tenantId, tenant.id))).map((row) => [row.name, row]),
    )
    expect(now.size).toBe(9)
    expect(now.get('install_nvidia_driver')!.inputSchema).toMatchObject({ properties: { install_cuda: { type: 'boolean' } } })
    expect(now.get('deploy_node_exporter')).toMatchObject({ isSystem: false, description: 'mine' })
    const entries = await db.select().from(auditEntries).where(eq(auditEntries.tenantId, tenant.id))
    expect(entries.filter(({ action }) => action === 'job_template.update_built_in').map(({ details }) => details)).toEqual([
      { names: expect.arrayContaining(['install_amd_driver', 'install_nvidia_driver']) },
    ])
  })

  test('only one of two concurrent calls succeeds', async () => {
    const { won, lost } = await race(createTenant(t.runtime, { name: 'twin' }), createTenant(t.runtime, { name: 'twin' }))
    expect([won.length, lost.map((e) => e.name)]).toEqual([1, ['Conflict']])
  })
})

describe('members', () => {
  test('adds a member once, with at most the role of the caller', async () => {
    const user = await aUser('one@x.test')
    await expect(addMember(fixture.admin, { userId: user.id, role: 'owner' })).rejects.toMatchObject({ code: 'FORBIDDEN' })
    expect(await addMember(fixture.admin, { userId: user.id, role: 'operator' })).toMatchObject({ role: 'operator' })
    await expect(addMember(fixture.admin, { userId: user.id, role: 'viewer' })).rejects.toMatchObject({ code: 'CONFLICT' })
    expect(await findMembership(t.runtime.db, user.id)).toEqual({
      tenantId: fixture.tenant.id,
      role: 'operator',
      tenantName: fixture.tenant.name,
    })
  })

  test('findMembership returns the first membership, or null', async () => {
    const user = await aUser('two@x.test')
    expect(await findMembership(t.runtime.db, user.id)).toBeNull()
    const other = await t.given.tenant()
    await t.runtime.db.insert(members).values([
      { tenantId: other.tenant.id, userId: user.id, role: 'viewer', createdAt: new Date('2026-01-02') },
      { tenantId: fixture.tenant.id, userId: user.id, role: 'admin', createdAt: new Date('2026-01-01') },
    ])
    expect(await findMembership(t.runtime.db, user.id)).toMatchObject({ tenantId: fixture.tenant.id, role: 'admin' })
  })
})

describe('API tokens', () => {
  test('a token authenticates its tenant and role until it is revoked; only its hash is stored', async () => {
    const { token, apiToken } = await createApiToken(fixture.operator, { name: 'ci', role: 'operator' })
    expect(token).toMatch(/^mst_[A-Za-z0-9_-]{43}$/)
    expect(apiToken).toMatchObject({ prefix: token.slice(0, 12), expiresAt: null, createdById: fixture.operator.actor.id })
    const [row] = await t.runtime.db.select().from(apiTokens).where(eq(apiTokens.id, apiToken.id))
    const written = JSON.stringify([
      row,
      await t.runtime.db.select().from(auditEntries).where(eq(auditEntries.objectId, apiToken.id)),
    ])
    expect(written).toContain(apiToken.prefix)
    expect(written).not.toContain(token.slice(12))
    expect(await findActorByToken(t.runtime.db, token)).toEqual({
      actor: { kind: 'token', id: apiToken.id, name: 'ci', role: 'operator', userId: fixture.operator.actor.id },
      tenantId: fixture.tenant.id,
    })
    expect(await revokeApiToken(fixture.operator, { id: apiToken.id })).toMatchObject({ revokedAt: expect.any(Date) })
    expect(await findActorByToken(t.runtime.db, token)).toBeNull()
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
    expect(await findActorByToken(t.runtime.db, token)).toBeNull()
  })

  test.each(['', 'mst_', 'mst_x', `mst_${'a'.repeat(43)}`, `mst_${'a'.repeat(42)}\u0000`, "mst_' or 1=1 --"])(
    'rejects %j',
    async (token) => {
      expect(await findActorByToken(t.runtime.db, token)).toBeNull()
    },
  )

  test('records the last use at most once a minute', async () => {
    const { token, apiToken } = await createApiToken(fixture.operator, { name: 'busy', role: 'viewer' })
    const lastUse = async () => (await t.runtime.db.select().from(apiTokens).where(eq(apiTokens.id, apiToken.id)))[0]!.lastUsedAt
    const found = await Promise.all(Array.from({ length: 10 }, () => findActorByToken(t.runtime.db, token)))
    expect(found.every((f) => f !== null)).toBe(true)
    const first = await lastUse()
    expect(first).not.toBeNull()
    await findActorByToken(t.runtime.db, token)
    expect(await lastUse()).toEqual(first)
    const past = new Date(Date.now() - 61_000)
    await t.runtime.db.update(apiTokens).set({ lastUsedAt: past }).where(eq(apiTokens.id, apiToken.id))
    await findActorByToken(t.runtime.db, token)
    expect((await lastUse())!.getTime()).toBeGreaterThan(past.getTime())
  })

  test('operators revoke their own tokens and admins all; only one of two concurrent calls succeeds', async () => {
    const { apiToken } = await createApiToken(fixture.owner, { name: 'boss', role: 'viewer' })
    await expect(revokeApiToken(fixture.operator, { id: apiToken.id })).rejects.toMatchObject({ code: 'FORBIDDEN' })
    const { won, lost } = await race(
      revokeApiToken(fixture.admin, { id: apiToken.id }),
      revokeApiToken(fixture.owner, { id: apiToken.id }),
    )
    expect([won.length, lost.map((e) => e.name)]).toEqual([1, ['Conflict']])
  })
})
