import { afterAll, beforeAll, expect, it } from 'vitest'
import { muster, startTestApi, type TestApi } from '../../testing/muster.ts'

let t: TestApi
let tenant: Awaited<ReturnType<TestApi['given']['tenant']>>
beforeAll(async () => {
  t = await startTestApi()
  tenant = await t.given.tenant()
  const { operator } = tenant
  await t.given.fleet(operator, { nodes: 2, accelerators: 8 })
  await t.given.fleet(operator, { nodes: 1, prefix: 'cpu' })
  await t.signIn(operator)
})
afterAll(() => t?.close())

it('creates nested, dynamic and exclusive groups', async () => {
  expect(await muster('group create site')).toMatchObject({ code: 0, err: 'Created site.\n' })
  expect(await muster('group create gpus --parent site --priority 10 --query accelerator.count_>=_8')).toMatchObject({
    code: 0,
    err: 'Created gpus with 2 nodes.\n',
  })
  await muster('group create rack1 --set rack')
  await muster('group create rack2 --set rack')
  expect(await muster('group add-nodes rack1 cpu001')).toMatchObject({ code: 0, err: 'rack1 has 1 node.\n' })
  expect(JSON.parse((await muster('group list -o json')).out)).toMatchObject([
    { name: 'gpus', parent: { name: 'site' }, memberQuery: 'accelerator.count >= 8', priority: 10, nodeCount: 2 },
    { name: 'rack1', exclusiveSet: 'rack', nodeCount: 1 },
    { name: 'rack2', exclusiveSet: 'rack', nodeCount: 0 },
    { name: 'site', nodeCount: 2 },
  ])
  expect(JSON.parse((await muster('group list --search RACK --set rack -o json')).out)).toHaveLength(2)
  expect((await muster('group list --search k_1')).err).toBe('No group matches.\n')
  expect((await muster('group get site')).out).toMatch(/^children +gpus$[\s\S]*^nodes +2: gpu001, gpu002$/m)
  expect(JSON.parse((await muster('node list --query group=site_and_not_name=gpu001 -o json')).out)).toMatchObject([
    { name: 'gpu002' },
  ])

  const rejected = [
    ['group add-nodes gpus cpu001', 5, 'has a member query'],
    ['group add-nodes rack2 cpu001', 5, 'cpu001 is in rack1, which is in the exclusive set rack too'],
    ['group delete site', 5, 'The group site has the child groups gpus'],
    ['group create bad --query tagg=a', 5, 'unknown field'],
    ['group create bad --priority high', 2, 'whole number'],
    ['group get nope', 4, 'muster group list'],
  ] as const
  for (const [line, code, reason] of rejected)
    expect(await muster(line)).toMatchObject({ code, err: expect.stringContaining(reason) })

  expect((await muster('group remove-nodes rack1 cpu001')).err).toBe('rack1 has 0 nodes.\n')
  expect(await muster("group update gpus --query '' --parent '' --name machines")).toMatchObject({
    code: 0,
    err: 'Updated machines; it has 0 nodes.\n',
  })
  expect(await muster('group delete site')).toMatchObject({ code: 0, err: 'Deleted site.\n' })
})

it('creates a system group, which cannot be deleted until an admin clears this', async () => {
  expect(await muster('group create base --system')).toMatchObject({ code: 3 })
  await t.signIn(tenant.admin)
  expect((await muster('group create base --system')).code).toBe(0)
  expect((await muster('group get base')).out).toMatch(/^system +yes$/m)
  expect(await muster('group delete base')).toMatchObject({
    code: 5,
    err: expect.stringContaining('The group base is a system group and cannot be deleted.'),
  })
  expect((await muster('group update base --no-system')).code).toBe(0)
  expect((await muster('group get base')).out).toMatch(/^system +-$/m)
  expect((await muster('group delete base')).code).toBe(0)
})
