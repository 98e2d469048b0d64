import { eq } from 'drizzle-orm'
import type pg from 'pg'
import { afterAll, beforeAll, beforeEach, describe, expect, test, vi } from 'vitest'
import { tenants } from '../../access/tables.ts'
import { auditEntries } from '../../audit/tables.ts'
import { createBootProfile, deleteBootProfile, effectiveBootProfiles } from '../../boot-profiles/index.ts'
import { createNodeGroup, deleteNodeGroup } from '../../groups/index.ts'
import { nodeGroupMembers } from '../../groups/tables.ts'
import { addNode } from '../../nodes/index.ts'
import { computeNodes } from '../../nodes/tables.ts'
import type { TenantFixture } from '../../testing/factories.ts'
import { type TestRuntime, testRuntime } from '../../testing/runtime.ts'
import { rejectUnknownMachine } from '../reject-unknown-machine.ts'
import { reportUnknownMachines, type UnknownMachineReport } from '../report-unknown-machines.ts'
import { bootRules, unknownMachines } from '../tables.ts'
import { acceptByRules } from './accept-by-rules.ts'
import { createBootRule } from './create-boot-rule.ts'
import { deleteBootRule } from './delete-boot-rule.ts'
import { matches } from './matches.ts'
import { updateBootRule } from './update-boot-rule.ts'

let t: TestRuntime
let ours: TenantFixture
beforeAll(async () => {
  t = await testRuntime()
})
beforeEach(async () => {
  ours = await t.given.tenant()
})
afterAll(() => t.close())

type Rule = Parameters<typeof createBootRule>[1]
const create = (fields: Partial<Rule> = {}) =>
  createBootRule(ours.admin, { name: 'rack', names: 'cn[1-9]', macPrefixes: ['02:00:5E'], ...fields })
const macOf = (i: number, prefix = '02:00:5e') => `${prefix}:00:00:0${i}`
const report = (...machines: Partial<UnknownMachineReport>[]) =>
  reportUnknownMachines(
    ours.system,
    machines.map((machine, i) => ({ mac: macOf(i + 1), address: '10.0.0.9', ...machine })),
  )
const machines = () => ours.system.db.select().from(unknownMachines).orderBy(unknownMachines.mac)
const accepted = async () => (await machines()).map(({ state, acceptedByName }) => [state, acceptedByName])
const names = async () =>
  (await ours.system.db.select({ name: computeNodes.name }).from(computeNodes).orderBy(computeNodes.name)).map(({ name }) => name)
const ruleNow = async (id: string) => (await ours.system.db.select().from(bootRules).where(eq(bootRules.id, id)))[0]!

test.each<[boolean, Partial<Parameters<typeof matches>[0]>]>([
  [true, { macPrefixes: ['02:00'] }],
  [false, { macPrefixes: ['02:01'] }],
  [true, { macPrefixes: ['aa', '02:00:5e:00:00:01'] }],
  [true, { interfaceMacPrefixes: ['06:'] }],
  [false, { interfaceMacPrefixes: ['08:'] }],
  [true, { serials: ['s-*'], arch: 'x86_64' }],
  [false, { serials: ['S-*'], arch: 'aarch64' }],
  [true, { serials: ['*-1*3'] }],
  [false, { serials: ['S-123*3'] }],
  [false, { serials: ['S-12'] }],
  [true, { serials: ['x', 'S-123'] }],
  [false, { systemUuids: ['*'] }],
])('%s for %j', (expected, match) => {
  const all = { macPrefixes: null, interfaceMacPrefixes: null, serials: null, systemUuids: null, arch: null, ...match }
  const interfaces = [{ name: 'net0', mac: '06:00:00:00:00:01' }]
  expect(matches(all, { mac: macOf(1), arch: 'x86_64', serial: 'S-123', systemUuid: null, interfaces })).toBe(expected)
})

describe('a rule', () => {
  test('accepts machines that match, in their order, with free names, a group and a profile', async () => {
    const group = await createNodeGroup(ours.admin, { name: 'rack' })
    const profile = await createBootProfile(ours.admin, { name: 'compute', kernel: { url: 'http://10.0.0.1/k' } })
    await addNode(ours.operator, { name: 'cn2', host: 'cn2' })
    const rule = await create({ groupId: group.id, profileId: profile.id })
    await report({}, { mac: macOf(1, '06:00:00') }, { mac: macOf(3) })
    expect(await acceptByRules(t.runtime)).toBe(2)
    expect(await acceptByRules(t.runtime)).toBe(0)
    expect(await names()).toEqual(['cn1', 'cn2', 'cn3'])
    expect(await accepted()).toEqual([
      ['ACCEPTED', 'boot rule rack'],
      ['ACCEPTED', 'boot rule rack'],
      ['NEW', null],
    ])
    const [machine] = await machines()
    expect((await effectiveBootProfiles(ours.viewer, [machine!.nodeId!])).get(machine!.nodeId!)!.profile!.name).toBe('compute')
    expect(await ours.system.db.select().from(nodeGroupMembers).where(eq(nodeGroupMembers.groupId, group.id))).toHaveLength(2)
    expect(await ruleNow(rule.id)).toMatchObject({ accepted: 2, problem: null, lastAcceptedAt: expect.any(Date) })
    const entries = await t.runtime.db.select().from(auditEntries).where(eq(auditEntries.tenantId, ours.tenant.id))
    expect(entries.filter(({ action }) => action === 'unknown_machine.accept').map(({ actorName }) => actorName)).toEqual([
      'boot rule rack',
      'boot rule rack',
    ])
    await expect(deleteBootProfile(ours.admin, { id: profile.id })).rejects.toMatchObject({ code: 'CONFLICT' })
    await expect(deleteNodeGroup(ours.operator, { id: group.id })).rejects.toThrow(
      'The boot rules rack add nodes to the group rack; change or delete them first.',
    )
    expect((await ruleNow(rule.id)).groupId).toBe(group.id)
    await updateBootRule(ours.admin, { id: rule.id, groupId: null })
    await deleteNodeGroup(ours.operator, { id: group.id })
  })

  test('accepts none while it is disabled, none beyond its limit, and no rejected machine', async () => {
    await report({}, {}, {})
    const [first] = await machines()
    await rejectUnknownMachine(ours.operator, { id: first!.id })
    const rule = await create({ isEnabled: false, maxAccepted: 1 })
    expect(await acceptByRules(t.runtime)).toBe(0)
    await updateBootRule(ours.admin, { id: rule.id, isEnabled: true })
    await Promise.all([acceptByRules(t.runtime), acceptByRules(t.runtime), acceptByRules(t.runtime)])
    expect(await ruleNow(rule.id)).toMatchObject({ accepted: 1 })
    expect((await accepted()).map(([state]) => state)).toEqual(['REJECTED', 'ACCEPTED', 'NEW'])
    await updateBootRule(ours.admin, { id: rule.id, maxAccepted: 2 })
    expect(await acceptByRules(t.runtime)).toBe(1)
  })

  test('reports why it could accept none, and recovers', async () => {
    const rule = await create({ names: 'cn1' })
    await report({}, {})
    expect(await acceptByRules(t.runtime)).toBe(1)
    expect(await ruleNow(rule.id)).toMatchObject({
      problem: `${macOf(2)}: All names of cn1 belong to nodes. Extend the names of the boot rule rack.`,
    })
    await updateBootRule(ours.admin, { id: rule.id, names: 'cn[1-2]' })
    expect(await acceptByRules(t.runtime)).toBe(1)
    expect(await ruleNow(rule.id)).toMatchObject({ problem: null, accepted: 2 })
  })

  const MAC = '02:00:00:00:00:01'
  const unacceptable = (...numbers: number[]) =>
    report(...numbers.map((i) => ({ mac: macOf(i), interfaces: [{ name: 'eth0', mac: MAC }] })))

  test('skips machines that cannot become nodes, and tries other ones in each pass', async () => {
    await addNode(ours.operator, { name: 'taken', host: 'taken', interfaces: [{ name: 'eth0', mac: MAC }] })
    const rule = await create()
    await unacceptable(1)
    await report({ mac: macOf(2) })
    expect(await acceptByRules(t.runtime)).toBe(1)
    expect(await names()).toEqual(['cn1', 'taken'])
    await unacceptable(3, 4, 5, 6, 7, 8)
    await report({ mac: macOf(9) })
    // The pass ends after five failures; the next one begins with the machines that it did not try.
    expect(await acceptByRules(t.runtime)).toBe(0)
    expect((await ruleNow(rule.id)).problem).toContain(MAC)
    expect(await acceptByRules(t.runtime)).toBe(1)
    expect(await names()).toEqual(['cn1', 'cn2', 'taken'])
  })

  test('that is used up keeps its machines from the next rule', async () => {
    const first = await create({ name: 'first', names: 'a[1-9]', priority: 5, maxAccepted: 1 })
    const other = await create({ name: 'second', names: 'b[1-9]', macPrefixes: ['02'] })
    await report({}, {}, { mac: macOf(1, '02:00:5f') })
    expect(await acceptByRules(t.runtime)).toBe(2)
    expect(await acceptByRules(t.runtime)).toBe(0)
    expect(await names()).toEqual(['a1', 'b1'])
    const problem = `${macOf(2)}: The boot rule first accepted 1 machines, its limit. Raise the limit.`
    expect(await ruleNow(first.id)).toMatchObject({ problem })
    expect(await ruleNow(other.id)).toMatchObject({ problem: null, accepted: 1 })
    await updateBootRule(ours.admin, { id: first.id, maxAccepted: 2 })
    expect(await acceptByRules(t.runtime)).toBe(1)
    expect(await names()).toEqual(['a1', 'a2', 'b1'])
  })

  test('with the lower priority comes first, and one per tenant decides about its machines only', async () => {
    const theirs = await t.given.tenant()
    await createBootRule(theirs.admin, { name: 'all', names: 'x[1-9]', macPrefixes: ['02'] })
    await create({ name: 'second', names: 'b[1-9]' })
    await create({ name: 'first', names: 'a[1-9]', priority: 5, macPrefixes: null, serials: ['S-1'] })
    await report({ serial: 's-1' }, { serial: 'S-2' })
    await acceptByRules(t.runtime)
    expect(await names()).toEqual(['a1', 'b1'])
  })

  test('accepts none in a suspended tenant, and an error in one tenant stops no other', async () => {
    // The reconciler visits tenants in any order: one fails before it and one after it, whichever is the first.
    const broken = [await t.given.tenant(), await t.given.tenant()]
    for (const { admin, system } of [...broken, ours]) {
      await createBootRule(admin, { name: 'rack', names: 'cn[1-9]', macPrefixes: ['02:00:5E'] })
      await reportUnknownMachines(system, [{ mac: macOf(1), address: '10.0.0.9' }])
    }
    const error = vi.spyOn(t.runtime.log, 'error')
    const isBroken = (tenantId: string) => broken.some(({ tenant }) => tenant.id === tenantId)
    const tenantDb = (tenantId: string) => {
      if (isBroken(tenantId)) throw new Error('planted')
      return t.runtime.tenantDb(tenantId)
    }
    const suspend = (suspendedAt: Date | null) =>
      t.runtime.db.update(tenants).set({ suspendedAt }).where(eq(tenants.id, ours.tenant.id))
    await suspend(new Date())
    expect(await acceptByRules({ ...t.runtime, tenantDb: tenantDb as typeof t.runtime.tenantDb })).toBe(0)
    expect(error).toHaveBeenCalledTimes(2)
    await suspend(null)
    expect(await acceptByRules({ ...t.runtime, tenantDb: tenantDb as typeof t.runtime.tenantDb })).toBe(1)
    expect(await names()).toEqual(['cn1'])
    error.mockRestore()
    expect(await acceptByRules(t.runtime)).toBe(2)
  })

  test('reads the taken names once per pass, and skips a name that a node got meanwhile', async () => {
    await create({ names: 'cn[1-5000]' })
    await addNode(ours.operator, { name: 'cn1', host: 'cn1' })
    await report({}, {}, {})
    // Statements outside of transactions, and those of the connections of transactions.
    const spies = [vi.spyOn(t.appPool, 'query')]
    const connect = t.appPool.connect.bind(t.appPool) as (...args: unknown[]) => Promise<pg.PoolClient>
    const connected = vi.spyOn(t.appPool, 'connect').mockImplementation(async (...args: unknown[]) => {
      const client = await connect(...args)
      if (args.length === 0) spies.push(vi.spyOn(client, 'query') as (typeof spies)[number])
      return client
    })
    expect(await acceptByRules(t.runtime)).toBe(3)
    // The pool passes its statements on to connections, with a callback as third argument.
    const calls = spies.flatMap(({ mock }) => mock.calls as unknown[][]).filter(({ length }) => length < 3)
    for (const spy of [...spies, connected]) spy.mockRestore()
    const valuesOf = ([config, values]: unknown[]) => JSON.stringify(values ?? (config as pg.QueryConfig).values ?? [])
    expect(calls.filter((call) => valuesOf(call).includes('cn5000'))).toHaveLength(1)
    expect(await names()).toEqual(['cn1', 'cn2', 'cn3', 'cn4'])
  })

  test.each<[string, Partial<Rule>]>([
    ['macPrefixes: give MACs', { macPrefixes: null, arch: 'x86_64' }],
    ['macPrefixes.0: must be a MAC or its first bytes', { macPrefixes: ['02:0'] }],
    ['names: -cn1 is not a name of a node', { names: '-cn1' }],
    ['names: ', { names: 'cn[1-' }],
    ['groupId: there is no group', { groupId: crypto.randomUUID() }],
    ['profileId: there is no boot profile', { profileId: crypto.randomUUID() }],
    ['maxAccepted: must be at least 1', { maxAccepted: 0 }],
  ])('is refused: %s', async (message, fields) => {
    const error = await create(fields).catch((error) => error)
    expect(`${error.issues?.[0].path}: ${error.issues?.[0].message}`).toContain(message)
  })

  test('needs the permission and a free name; other tenants find none', async () => {
    const rule = await create()
    await expect(create()).rejects.toThrow('already a boot rule named rack')
    await expect(createBootRule(ours.operator, { name: 'x', names: 'x', macPrefixes: ['02'] })).rejects.toMatchObject({
      code: 'FORBIDDEN',
    })
    const theirs = await t.given.tenant()
    const group = await createNodeGroup(ours.admin, { name: 'ours' })
    const foreign = { name: 'x', names: 'x', macPrefixes: ['02'], groupId: group.id }
    await expect(createBootRule(theirs.admin, foreign)).rejects.toThrow('there is no group')
    await expect(updateBootRule(theirs.admin, { id: rule.id, priority: 1 })).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(deleteBootRule(theirs.admin, { id: rule.id })).rejects.toMatchObject({ code: 'NOT_FOUND' })
    await expect(updateBootRule(ours.operator, { id: rule.id })).rejects.toMatchObject({ code: 'FORBIDDEN' })
    expect((await deleteBootRule(ours.admin, { id: rule.id })).id).toBe(rule.id)
  })
})
