import { afterAll, beforeAll, expect, it } from 'vitest'
import { schema } from '../../../../../packages/core/src/registry.ts'
import { muster, startTestApi, type TestApi } from '../../testing/muster.ts'

let t: TestApi
beforeAll(async () => {
  t = await startTestApi()
  const { admin } = await t.given.tenant()
  await t.given.fleet(admin, { nodes: 2, accelerators: 1 })
  await t.signIn(admin)
  await muster('credential add ops --kind ssh-password -u ops --secret-stdin', 'correct horse')
})
afterAll(() => t?.close())

const get = async (name: string) => JSON.parse((await muster(`node get ${name} -o json`)).out)

it('updates one field of all nodes, and adds to tags and labels', async () => {
  const both = 'gpu001: updated, READY\ngpu002: updated, READY\n'
  expect(await muster('node update gpu[001-002] -c ops -u root --tag prod a100 --label rack=a1 u=7')).toMatchObject({ out: both })
  expect(await muster('node update gpu[001-002] --tag spare --untag a100 --label u= --notes bad_fan')).toMatchObject({
    out: both,
  })
  expect(await get('gpu002')).toMatchObject({
    credential: { name: 'ops' },
    sshUser: 'root',
    tags: expect.arrayContaining(['prod', 'spare']),
    labels: [{ key: 'rack', value: 'a1' }],
    notes: 'bad fan',
  })
  expect((await get('gpu002')).tags).not.toContain('a100')
  expect((await muster('node get gpu001')).out).toMatch(/^labels +rack=a1$/m)
  await muster("node update gpu001 -c '' -u ''")
  expect(await get('gpu001')).toMatchObject({ credential: null, sshUser: null, labels: [{ key: 'rack', value: 'a1' }] })
  expect((await muster('node update gpu001 --region eu --datacenter dc1')).code).toBe(0)
  expect((await muster('node get gpu001')).out).toMatch(/^location +eu, dc1$/m)
  expect((await muster('node update gpu001 --xname X1000c08s03b0n0 --nid 0 --rack A1 --rack-position U7')).code).toBe(0)
  await muster('node update gpu001 --interface eth0=02005e100001,10.0.0.1@mgmt,fd00::1,boot eth1=02-00-5e-10-00-02')
  expect((await muster('node get gpu001')).out).toMatch(
    /^location +eu, dc1, A1, U7\nxname +x1000c8s3b0n0; rejected by hms-xname \(SMD, BSS\): the chassis is above 7\nnid +0\n.*interface +eth0=02:00:5e:10:00:01,10.0.0.1@mgmt,fd00::1,boot\ninterface +eth1=02:00:5e:10:00:02$/ms,
  )
  await muster("node update gpu001 --nid '' --interface ''")
  expect(await get('gpu001')).toMatchObject({ nid: null, interfaces: [], bootMac: null, xname: 'x1000c8s3b0n0' })
  await muster("node update gpu001 --region ''")
  expect(await get('gpu001')).toMatchObject({ region: null, datacenter: 'dc1' })
  expect((await muster('node update gpu002 --host 10.9.9.9 --name gpu009')).out).toBe('gpu002: updated, NEW\n')

  const rejected = [
    ['node update gpu001', 2, 'Specify at least one option'],
    ['node update gpu[001,009] --host 10.1.1.1', 2, 'matches 2 nodes: gpu001, gpu009.'],
    ['node update gpu001 --name gpu009', 5, 'gpu001: There is already a node named gpu009'],
    ['node update gpu001 --label rack', 2, 'key=value'],
    ['node update gpu001 --interface eth0', 2, 'NAME=MAC'],
    ['node update gpu001 --nid x', 2, 'whole number'],
    ['node update gpu[001,009] --nid 7', 2, 'matches 2 nodes'],
    ['node update gpu009 --xname x1000c8s3b0n0', 5, 'The node gpu001 (READY) already has the xname'],
    ['node update gpu001 --become ops', 5, 'becomeCredentialId: ops is a credential of the kind SSH_PASSWORD'],
    ['node update nope --notes x', 4, 'muster node list'],
    ['node add gpu003\ngpu004', 2, 'It must be one line; use - to read several from standard input.'],
  ] as const
  for (const [line, code, reason] of rejected)
    expect(await muster(line)).toMatchObject({ code, err: expect.stringContaining(reason) })
})

it('adds nodes with connection type, region and data center', async () => {
  const added = await muster('node add control=127.0.0.1 --connection local --type controller --region eu --datacenter dc2')
  expect(added).toMatchObject({ code: 0, err: '1 added\n' })
  expect(await get('control')).toMatchObject({ connectionType: 'LOCAL', nodeType: 'CONTROLLER', region: 'eu', datacenter: 'dc2' })
  expect((await muster('node get control')).out).toMatch(/^address +local$/m)
  expect((await muster('node update control --connection ssh')).code).toBe(0)
  expect(await get('control')).toMatchObject({ connectionType: 'SSH' })
  await muster('node decommission control')
  await muster('node purge control')
})

it('shows serial number, firmware, toolkit, ECC and NUMA node of accelerators', async () => {
  const row = (await t.runtime.db.query.accelerators.findFirst())!
  const details = { serial: 'S-1', firmwareVersion: '96.00', toolkitVersion: '12.4', eccMode: 'enabled', numaNode: 1 }
  await t.runtime.db.$client.query(
    `update accelerators set serial = $2, firmware_version = $3, toolkit_version = $4, ecc_mode = $5, numa_node = $6, ecc_errors = $7 where id = $1`,
    [row.id, ...Object.values(details), { correctedVolatile: 3 }],
  )
  const node = (await t.runtime.db.query.computeNodes.findFirst({ where: { id: row.nodeId } }))!
  const { accelerators } = await get(node.name)
  const { eccMode: _, ...shown } = details
  expect(accelerators[row.index]).toMatchObject({ ...shown, isEccEnabled: true, eccErrors: { correctedVolatile: 3 } })
  const { out } = await muster(`node get ${node.name} -o wide`)
  expect(out).toMatch(/^#.* FIRMWARE +TOOLKIT +NUMA +SERIAL +ECC$/m)
  expect(out).toMatch(/ 96\.00 +12\.4 +1 +S-1 +enabled$/m)
})

it('prints names only, omits headers, and accepts the word order of kubectl', async () => {
  expect((await muster('node list -o name')).out).toBe('gpu001\ngpu009\n')
  expect((await muster('get nodes -o name')).out).toBe('gpu001\ngpu009\n')
  expect((await muster('describe node gpu001')).out).toMatch(/^name +gpu001$/m)
  expect((await muster('nodes ls --no-headers')).out).toMatch(/^gpu001 +READY /)
  expect(await muster('node list nope')).toMatchObject({ code: 4, err: 'No nodes match `nope`.\n', out: '' })
})

it('accepts the selectors of a run in every node argument', async () => {
  await muster('group create rack')
  await muster('group add-nodes rack gpu009')
  await muster('node update gpu001 --tag fast')
  const selectors = {
    'gpu*': 'gpu001 gpu009',
    '@rack': 'gpu009',
    'tag:fast': 'gpu001',
    'gpu*,!@rack': 'gpu001',
    all: 'gpu001 gpu009',
  }
  for (const [selector, names] of Object.entries({
    ...selectors,
    '{name = gpu009}': 'gpu009',
    'vendor:nvidia': 'gpu001 gpu009',
  })) {
    expect((await muster(['node', 'list', selector, '-o', 'name'])).out.trim().split('\n').join(' '), selector).toBe(names)
    expect((await muster(['node', 'get', selector, '-o', 'name'])).out.trim().split('\n').join(' '), selector).toBe(names)
  }
  expect((await muster('node maintenance @rack')).out).toBe('gpu009: MAINTENANCE\n')
  expect((await muster('node maintenance @rack --end')).code).toBe(0)
  for (const command of ['node list', 'node get', 'node test', 'node maintenance', 'agent list', 'agent drain --reason x'])
    expect(await muster(`${command} tag:none`), command).toMatchObject({ code: 4, err: 'No nodes match `tag:none`.\n', out: '' })
  expect(await muster('node list @nope')).toMatchObject({ code: 5, err: expect.stringContaining('no group nope') })
})

it('moves nodes through maintenance, decommission, recommission and purge', async () => {
  expect((await muster('node maintenance gpu001')).out).toBe('gpu001: MAINTENANCE\n')
  const until = (await muster('node maintenance gpu001 --minutes 30')).out
  expect(until).toMatch(/^gpu001: MAINTENANCE until 20/)
  expect((await muster('node maintenance gpu001 --reason fan')).out).toBe(until)
  expect((await muster('node maintenance gpu001 --minutes 0')).out).toBe('gpu001: MAINTENANCE\n')
  expect((await muster('node maintenance gpu001 --end')).out).toBe('gpu001: READY\n')
  expect(await muster('node purge gpu001')).toMatchObject({ code: 5, err: expect.stringContaining('decommission it first') })
  expect((await muster('node decommission gpu001')).out).toBe('gpu001: DECOMMISSIONED\n')
  expect(await muster('node maintenance gpu[001,009]')).toMatchObject({
    code: 5,
    out: 'gpu009: MAINTENANCE\n',
    err: expect.stringContaining('gpu001: The node gpu001 is decommissioned; recommission it first.'),
  })
  expect((await muster('node recommission gpu001')).out).toBe('gpu001: NEW\n')
  await muster('node decommission gpu001')
  expect((await muster('node purge gpu001')).out).toBe('gpu001: deleted\n')
  expect(await muster('node get gpu001')).toMatchObject({ code: 4 })
})

it('lists and finds credentials beyond one page', async () => {
  await muster('credential add first --kind ssh-password -u ops --secret-stdin', 'correct horse')
  expect((await muster("credential update first --username '' --description ''")).code).toBe(0)
  const { id: _, ...first } = (await t.runtime.db.query.credentials.findFirst({ where: { name: 'first' } }))!
  expect(first.username).toBeNull()
  const more = Array.from({ length: 501 }, (_, i) => ({ ...first, name: `more${i}` }))
  await t.runtime.db.insert(schema.credentials).values(more)
  const names = JSON.parse((await muster('credential list -o json')).out).map((each: { name: string }) => each.name)
  expect(names).toEqual(expect.arrayContaining(['first', ...more.map((each) => each.name)]))
  expect((await muster('credential delete more500')).code).toBe(0)
  expect(await muster('credential delete more501')).toMatchObject({ code: 4 })
})
