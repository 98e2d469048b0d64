import { eq, sql } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { auditEntries } from '../audit/index.ts'
import { createNodeGroup } from '../groups/index.ts'
import { selectNodes } from '../selection/index.ts'
import type { TenantFixture } from '../testing/factories.ts'
import { type TestRuntime, testRuntime } from '../testing/runtime.ts'
import { checkNodeImport } from './check-node-import.ts'
import type { NodeImportReport } from './import/rows.ts'
import { importNodes } from './import-nodes.ts'
import { computeNodes } from './tables.ts'

let t: TestRuntime
let fixture: TenantFixture
beforeAll(async () => {
  t = await testRuntime()
})
beforeEach(async () => {
  fixture = await t.given.tenant()
})
afterAll(() => t.close())

const states = ({ rows }: NodeImportReport) => rows.map((r) => `${r.row} ${r.name} ${r.state}`)
const count = async () =>
  (await t.runtime.db.select().from(computeNodes).where(eq(computeNodes.tenantId, fixture.tenant.id))).length
const LIST = 'gpu[1-2]\nbad;host\ngpu1\ngpu2=elsewhere\nx=gpu1\n-oProxyCommand=x\nlogin:99999'

describe('checkNodeImport', () => {
  test('reports the result of each row and writes nothing', async () => {
    const report = await checkNodeImport(fixture.operator, { format: 'LIST', text: LIST })
    expect(states(report)).toEqual([
      '1 gpu1 VALID',
      '1 gpu2 VALID',
      '2 bad-host INVALID',
      '3 gpu1 EXISTS',
      '4 gpu2 INVALID',
      '5 x INVALID',
      '6 -oProxyCommand INVALID',
      '7 login INVALID',
    ])
    expect(report.rows.map((r) => r.issues[0]?.path)).toEqual([
      undefined,
      undefined,
      'host',
      'name',
      'name',
      'host',
      'name',
      'port',
    ])
    expect(report).toMatchObject({ addedCount: 0, failedCount: 5 })
    expect(await count()).toBe(0)
  })
})

describe('importNodes', () => {
  test('adds the valid rows and reports the others like the check', async () => {
    const report = await importNodes(fixture.operator, { format: 'LIST', text: LIST })
    expect(report).toMatchObject({ addedCount: 2, failedCount: 5 })
    expect(report.rows[0]).toMatchObject({
      state: 'ADDED',
      host: 'gpu1',
      port: 22,
      source: 'gpu[1-2]',
      node: { name: 'gpu1', status: 'NEW' },
    })
    expect(await count()).toBe(2)
    const entries = await t.runtime.db.select().from(auditEntries).where(eq(auditEntries.tenantId, fixture.tenant.id))
    expect(entries.filter((e) => e.action === 'node.add').map((e) => e.objectName)).toEqual(['gpu1', 'gpu2'])
  })

  test('imports only the requested rows', async () => {
    const report = await importNodes(fixture.operator, { format: 'LIST', text: 'a\nb\nc', onlyRows: [2] })
    expect(states(report)).toEqual(['2 b ADDED'])
  })

  test('reports existing nodes by name or address on a second import', async () => {
    await importNodes(fixture.operator, { format: 'LIST', text: 'a=10.0.0.1\nc=10.0.0.3' })
    const repeated = await importNodes(fixture.operator, { format: 'LIST', text: 'a=10.0.0.1\n10.0.0.3\nb=10.0.0.1:2222' })
    expect(states(repeated)).toEqual(['1 a EXISTS', '2 10.0.0.3 EXISTS', '3 b ADDED'])
    expect(repeated.rows[1]).toMatchObject({ node: { name: 'c' }, issues: [{ path: 'host' }] })
  })

  test('rejects the name of a node at another address and names that address', async () => {
    await importNodes(fixture.operator, { format: 'LIST', text: 'a=10.0.0.1' })
    const report = await importNodes(fixture.operator, { format: 'LIST', text: 'a=10.0.0.9\na=10.0.0.9' })
    expect(states(report)).toEqual(['1 a INVALID', '2 a EXISTS'])
    expect(report.rows[0]).toMatchObject({
      node: { name: 'a' },
      issues: [{ path: 'name', message: expect.stringContaining('10.0.0.1:22') }],
    })
  })

  test('concurrent imports add each node once, in any row order', async () => {
    const names = Array.from({ length: 3000 }, (_, i) => `n${i}`)
    const [one, two] = await Promise.all([
      importNodes(fixture.operator, { format: 'LIST', text: names.join('\n') }),
      importNodes(fixture.admin, { format: 'LIST', text: names.toReversed().join('\n') }),
    ])
    expect(one.addedCount + two.addedCount).toBe(3000)
    expect([...one.rows, ...two.rows].every((r) => r.node?.name === r.name && r.state !== 'VALID')).toBe(true)
    expect(await count()).toBe(3000)
  })

  test('applies defaults to missing fields', async () => {
    const key = await t.given.credential(fixture.admin, 'SSH_KEY')
    const report = await importNodes(fixture.operator, {
      format: 'CSV',
      text: 'name,port,user,tags\na,2222,me,x\nb,,,\n',
      defaults: {
        credentialId: key.id,
        bastionId: null,
        labels: null,
        port: 2200,
        sshUser: 'ops',
        tags: ['lab'],
        nodeType: 'LOGIN',
      },
    })
    expect(report.rows.map((r) => r.node)).toMatchObject([
      { port: 2222, sshUser: 'me', tags: ['lab', 'x'], credentialId: key.id, nodeType: 'LOGIN' },
      { port: 2200, sshUser: 'ops', tags: ['lab'], credentialId: key.id },
    ])
    await expect(importNodes(fixture.operator, { format: 'LIST', text: 'a', defaults: { port: 0 } })).rejects.toMatchObject({
      issues: [{ path: 'defaults.port' }],
    })
  })

  test('resolves credentials of a table by name', async () => {
    const bastion = await t.given.credential(fixture.admin, 'BASTION', { name: 'door' })
    const report = await importNodes(fixture.operator, {
      format: 'CSV',
      text: 'name,bastion,credential\na,door,\nb,gate,\nc,,door\n',
    })
    expect(states(report)).toEqual(['2 a ADDED', '3 b INVALID', '4 c INVALID'])
    expect(report.rows[0]!.node!.bastionId).toBe(bastion.id)
    expect(report.rows.slice(1).map((r) => r.issues[0])).toMatchObject([
      { path: 'bastion', message: 'There is no credential named gate.' },
      { path: 'credential', message: expect.stringContaining('is a BASTION') },
    ])
  })

  test('an inventory cannot put a node into two groups of an exclusive set or into a group with a query', async () => {
    const { operator } = await t.given.tenant()
    for (const name of ['rack1', 'rack2']) await createNodeGroup(operator, { name, exclusiveSet: 'rack' })
    await createNodeGroup(operator, { name: 'tagged', memberQuery: 'tag = x' })
    const text = '[rack1]\na\nb\n[rack2]\nb\n[tagged]\na\n'
    const { rows } = await importNodes(operator, { format: 'INVENTORY', text })
    expect(rows.map(({ name, state, issues }) => [name, state, issues[0]?.message])).toEqual([
      ['a', 'ADDED', undefined],
      ['b', 'INVALID', 'rack1 and rack2 belong to the exclusive set rack; a node can be in only one of them'],
    ])
    expect((await selectNodes(operator, '@rack1')).map((node) => node.name)).toEqual(['a'])
    expect(await selectNodes(operator, '@tagged')).toEqual([])
  })

  test('creates the groups of an inventory', async () => {
    const text = '[gpu]\na\nb\n[room:children]\ngpu\n'
    await importNodes(fixture.operator, { format: 'INVENTORY', text })
    const { rows } = await t.runtime.db.execute(sql`select g.name as "group", n.name from node_groups g
      join node_group_members m on m.group_id = g.id join compute_nodes n on n.id = m.node_id
      where g.tenant_id = ${fixture.tenant.id} order by 1, 2`)
    expect(rows).toEqual([
      { group: 'gpu', name: 'a' },
      { group: 'gpu', name: 'b' },
      { group: 'room', name: 'a' },
      { group: 'room', name: 'b' },
    ])
  })

  test('requires an admin for a local node in an inventory', async () => {
    const input = { format: 'INVENTORY', text: 'self ansible_connection=local\n' } as const
    expect(await importNodes(fixture.operator, input)).toMatchObject({
      rows: [{ state: 'INVALID', issues: [{ path: 'connectionType' }] }],
    })
    expect(await importNodes(fixture.admin, input)).toMatchObject({
      rows: [{ state: 'ADDED', node: { connectionType: 'local' } }],
    })
  })

  test('reports a syntax error at `text` with its line', async () => {
    await expect(importNodes(fixture.operator, { format: 'INVENTORY', text: '[a\nb c' })).rejects.toMatchObject({
      code: 'INVALID_INPUT',
      issues: [{ path: 'text', message: expect.stringContaining('line') }],
    })
  })

  test('imports 10,000 nodes at once', async () => {
    expect(await importNodes(fixture.operator, { format: 'LIST', text: 'n[00001-10000]' })).toMatchObject({
      addedCount: 10_000,
      failedCount: 0,
    })
    expect(await count()).toBe(10_000)
  })
})
