import { afterAll, beforeAll, expect, it } from 'vitest'
import { muster, startTestApi, type TestApi } from '../../testing/muster.ts'

let t: TestApi
let tenant: Awaited<ReturnType<TestApi['given']['tenant']>>
beforeAll(async () => {
  t = await startTestApi()
  tenant = await t.given.tenant()
  await t.signIn(tenant.operator)
})
afterAll(() => t?.close())

const insert = async (table: string, row: Record<string, unknown>) => {
  const all: Record<string, unknown> = { id: crypto.randomUUID(), tenant_id: tenant.tenant.id, ...row }
  const places = Object.keys(all).map((_, i) => `$${i + 1}`)
  await t.runtime.db.$client.query(`insert into ${table} (${Object.keys(all)}) values (${places})`, Object.values(all))
  return all.id
}

it('accepts and rejects unknown machines', async () => {
  const [first, second] = ['02:00:00:00:00:01', '02:00:00:00:00:02']
  await insert('unknown_machines', { mac: first, arch: 'x86_64', serial: 'S1' })
  await insert('unknown_machines', { mac: second })
  expect((await muster('boot unknown list')).out).toMatch(/^02:00:00:00:00:01 +NEW +x86_64 +S1 /m)
  expect((await muster(`boot unknown accept ${first} --name cn1 --host 10.0.0.1`)).err).toBe(
    `${first} is cn1 now. It boots when it asks again.\n`,
  )
  expect((await muster(`boot unknown reject ${second!.replaceAll(':', '-')} --reason spare`)).err).toBe(`Rejected ${second}.\n`)
  expect((await muster('boot unknown list --state REJECTED')).out).toMatch(/^02:00:00:00:00:02 +REJECTED/m)
  expect((await muster('boot unknown list')).err).toContain('No machines are NEW.')
  const rejected = [
    [`boot unknown accept ${first} --name cn2`, 5, `The machine ${first} is already accepted.`],
    [`boot unknown accept ${second}`, 2, '--name'],
    ['boot unknown reject 02:00:00:00:00:09', 4, 'muster boot unknown list'],
  ] as const
  for (const [line, code, reason] of rejected)
    expect(await muster(line)).toMatchObject({ code, err: expect.stringContaining(reason) })
})

it('creates, changes and deletes rules that accept unknown machines', async () => {
  await t.signIn(tenant.admin)
  expect((await muster('boot rule list')).err).toContain('No boot rules yet.')
  await muster('group create rowa')
  const create = 'boot rule create row-a --names cn[001-064] --mac 02:00:5e --serial S-*,T-* --group rowa --max 64'
  expect((await muster(create)).err).toContain('Created row-a.')
  expect((await muster('boot rule list')).out).toMatch(
    /^row-a +100 +yes +mac=02:00:5e serial=S-\*,T-\* +cn\[001-064\] +0\/64 +- +rowa +- +-$/m,
  )
  expect((await muster('boot rule update row-a --disable --serial= --priority 5 --group=')).err).toBe('Updated row-a.\n')
  expect((await muster('boot rule list -o wide')).out).toMatch(/^row-a +5 +no +mac=02:00:5e +cn\[001-064\] +0\/64 +- +- +- +-$/m)
  const rejected = [
    ['boot rule create b --names cn', 5, 'otherwise the rule accepts every machine'],
    [create, 5, 'already a boot rule named row-a'],
    ['boot rule update nothing --enable', 4, 'muster boot rule list'],
  ] as const
  for (const [line, code, reason] of rejected)
    expect(await muster(line)).toMatchObject({ code, err: expect.stringContaining(reason) })
  expect((await muster('boot rule delete row-a')).err).toBe('Deleted row-a.\n')
  await t.signIn(tenant.operator)
})

it('shows what a node fetched, how far it is, and what it would receive', async () => {
  const [node] = await t.given.fleet(tenant.operator, { nodes: 1 })
  expect((await muster('boot timeline gpu001')).err).toContain('gpu001 has not booted over the network yet.')
  expect((await muster('boot preview gpu001')).out).toContain('No boot script: No boot profile is assigned to the node gpu001')
  await t.signIn(tenant.admin)
  expect((await muster('boot-profile create compute --kernel http://files.test/vmlinuz')).code).toBe(0)
  expect((await muster('boot-profile assign compute --all-nodes')).code).toBe(0)
  const preview = await muster('boot preview gpu001')
  expect(preview.out).toMatch(
    /^==> BOOT_SCRIPT \w{12} from compute v1\n#!ipxe\nkernel --name kernel http:\/\/files\.test\/vmlinuz /m,
  )
  const profile = { profile: 'compute', profile_version: 1 }
  const attempt = await insert('boot_attempts', { node_id: node!.id, cause: 'BOOT_SCRIPT', ...profile })
  const times = `($1, 'BOOT_SCRIPT', now() - interval '12 seconds'), ($1, 'CLOUD_INIT', now())`
  await t.runtime.db.$client.query(`insert into boot_stage_times (attempt_id, stage, reached_at) values ${times}`, [attempt])
  const fetch = { kind: 'USER_DATA', hash: 'b'.repeat(64), refusal: 'the connection has no TLS', ...profile }
  await insert('boot_fetches', { node_id: node!.id, attempt_id: attempt, ...fetch })
  const timeline = await muster('boot timeline gpu001')
  expect(timeline.out).toMatch(/^BOOT_SCRIPT +\S+Z\b.*\nCLOUD_INIT +\S+Z +12\.0 s *\nBOOTING, boot profile compute v1\n$/m)
  expect(JSON.parse((await muster('boot timeline gpu001 -o json')).out)).toMatchObject({ state: 'BOOTING', stuck: null })
  expect((await muster('boot fetches gpu001')).out).toMatch(/ USER_DATA +1 +\S+ +compute v1 +b{12} +the connection has no TLS/)
  expect((await muster('boot durations --profile compute')).out).toMatch(/^CLOUD_INIT +1 /m)
  const dhcp = 'boot dhcp-config dnsmasq --subnet 10.0.0.0/24'
  expect((await muster(`${dhcp} --pool 10.0.0.9-10.0.0.20`)).out).toContain('dhcp-range=10.0.0.9,10.0.0.20,255.255.255.0,')
  expect(await muster(`${dhcp} --pool 10.0.0.9`)).toMatchObject({ code: 5, err: expect.stringContaining('last') })
  expect((await muster('boot durations --profile other')).err).toContain('No boots within 30 days.')
})
