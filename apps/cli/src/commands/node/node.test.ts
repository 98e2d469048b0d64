import { afterAll, beforeAll, expect, it } from 'vitest'
import { schema } from '../../../../../packages/core/src/db/index.ts'
import { type CliWorld, cliWorld, muster } from '../../testing/muster.ts'

let t: CliWorld
beforeAll(async () => {
  t = await cliWorld()
  const { admin } = await t.given.tenant()
  await t.given.fleet(admin, { nodes: 2 })
  await t.signIn(admin)
  await muster('credential add ops --kind ssh-password -u ops --secret-stdin', 'correct horse')
})
afterAll(() => t?.close())

const get = async (name: string) => JSON.parse((await muster(`node get ${name} -o json`)).out)

it('changes nodes: one field of all, tags and labels besides those they have', async () => {
  const both = 'gpu001: changed, READY\ngpu002: changed, READY\n'
  expect(await muster('node update gpu[001-002] -c ops -u root --tag prod a100 --label rack=a1 u=7')).toMatchObject({ out: both })
  expect(await muster('node update gpu[001-002] --tag spare --untag a100 --label u= --notes bad_fan')).toMatchObject({
    out: both,
  })
  expect(await get('gpu002')).toMatchObject({
    credential: { name: 'ops' },
    sshUser: 'root',
    tags: expect.arrayContaining(['prod', 'spare']),
    labels: { rack: 'a1' },
    notes: 'bad fan',
  })
  expect((await get('gpu002')).tags).not.toContain('a100')
  expect((await muster('node get gpu001')).out).toMatch(/^labels +rack=a1$/m)
  await muster("node update gpu001 -c '' -u ''")
  expect(await get('gpu001')).toMatchObject({ credential: null, sshUser: null, labels: { rack: 'a1' } })
  expect((await muster('node update gpu002 --host 10.9.9.9 --name gpu009')).out).toBe('gpu002: changed, NEW\n')

  const refused = [
    ['node update gpu001', 2, 'Say what to change'],
    ['node update gpu[001,009] --host 10.1.1.1', 2, "one node's; gpu[001,009] are 2"],
    ['node update gpu001 --name gpu009', 5, 'gpu001: There is already a node named gpu009'],
    ['node update gpu001 --label rack', 2, 'key=value'],
    ['node update gpu001 --become ops', 5, 'becomeCredentialId: ops is a credential of the kind SSH_PASSWORD'],
    ['node update nope --notes x', 4, 'muster node list'],
    ['node add gpu003\ngpu004', 2, 'It must be one line; give several with - on standard input.'],
  ] as const
  for (const [line, code, reason] of refused)
    expect(await muster(line)).toMatchObject({ code, err: expect.stringContaining(reason) })
})

it('takes nodes out of work and back, out of service and back, and away', async () => {
  expect((await muster('node maintenance gpu001')).out).toBe('gpu001: MAINTENANCE\n')
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
  expect((await muster('node purge gpu001')).out).toBe('gpu001: removed\n')
  expect(await muster('node get gpu001')).toMatchObject({ code: 4 })
})

it('lists and finds more credentials than the API gives at once', async () => {
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
