import { request as httpRequest } from 'node:http'
import { assignBootProfile, createBootProfile, effectiveBootProfiles, updateBootProfile } from '@muster/core/boot-profiles'
import { createBootRule } from '@muster/core/boot-service'
import { createNodeGroup, setNodeGroupMembers } from '@muster/core/groups'
import { addNode } from '@muster/core/nodes'
import { schema } from '@muster/core/registry'
import type { TenantFixture } from '@muster/core/testing'
import { and, eq } from 'drizzle-orm'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { testApi } from '../../testing/api.ts'
import { type HttpServer, serveHttp } from '../server.ts'

// Requests have the bodies that OpenCHAMI's CLI sends; ochami.long.test.ts uses the CLI itself.

let t: Awaited<ReturnType<typeof testApi>>
let server: HttpServer
let ours: TenantFixture
beforeAll(async () => {
  t = await testApi({ openchami: { publicTenant: 'Public' } })
  server = await serveHttp(t.api, { host: '127.0.0.1', port: 0 })
})
afterAll(async () => {
  await server?.stop()
  await t?.close()
})
const ids: Record<string, string> = {}
const mac = (i: number) => `02:00:5e:20:00:0${i}`
const xname = (i: number) => `x1000c0s${i}b0n0`
beforeEach(async () => {
  ours = await t.given.tenant()
  for (const i of [1, 2, 3]) {
    const interfaces = [{ name: 'eth0', mac: mac(i), isBoot: true }]
    ids[`cn${i}`] = (await addNode(ours.operator, { name: `cn${i}`, host: `cn${i}`, xname: xname(i), nid: i, interfaces })).id
  }
})

// biome-ignore lint/suspicious/noExplicitAny: the shape of the body is what the tests check
type Answer = { status: number; body: any }
const PATH = '/boot/v1/bootparameters'
async function call(as: TenantFixture['admin'] | null, method: string, path: string, body?: unknown): Promise<Answer> {
  const response = await fetch(`http://127.0.0.1:${server.port}${path}`, {
    method,
    headers: as ? { authorization: `Bearer ${await t.tokenOf(as)}` } : {},
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  })
  const text = await response.text()
  return { status: response.status, body: text ? JSON.parse(text) : null }
}
const ask = (method: string, body?: unknown, query = '') => call(ours.admin, method, `${PATH}${query}`, body)
/** Kernel and parameters that the node with this number boots. */
const boots = async (i: number) => {
  const id = ids[`cn${i}`]!
  const { profile } = (await effectiveBootProfiles(ours.viewer, [id])).get(id)!
  return profile && [profile.kernel?.value.url, ...profile.kernelParams.map(({ value }) => value)].join(' ')
}
const profiles = async () =>
  (await t.runtime.db.select().from(schema.bootProfiles).where(eq(schema.bootProfiles.tenantId, ours.tenant.id))).map(
    ({ name }) => name,
  )
const EMPTY = { 'meta-data': null, 'user-data': null, 'phone-home': {} }
const params = (kernel: string, more: object = {}) => ({ kernel: `http://10.0.0.1/${kernel}`, 'cloud-init': EMPTY, ...more })

test('stores boot parameters as a profile, replaces, updates and removes them, and leaves no profile behind', async () => {
  const line = 'console=ttyS0 initrd=initrd root="LABEL=a b"'
  const one = params('a', { hosts: [xname(1), xname(2)], initrd: 'http://10.0.0.1/i', params: line })
  expect(await ask('POST', one)).toEqual({ status: 201, body: null })
  expect(await boots(1)).toBe('http://10.0.0.1/a console=ttyS0 root="LABEL=a b"')
  expect(await ask('GET')).toEqual({
    status: 200,
    body: [
      {
        hosts: [xname(1), xname(2)],
        ...{ kernel: 'http://10.0.0.1/a', initrd: 'http://10.0.0.1/i', params: 'console=ttyS0 root="LABEL=a b"' },
        'cloud-init': expect.objectContaining({ 'meta-data': null, 'user-data': null }),
      },
    ],
  })
  // Exists; the other node of the request does not get it.
  expect((await ask('POST', { ...one, hosts: [xname(3), xname(2)] })).body).toMatchObject({
    ...{
      title: 'Conflict',
      status: 409,
      detail: `${xname(2)} has boot parameters already. Replace or update them with PUT or PATCH.`,
    },
  })
  expect(await boots(3)).toBe(null)
  const before = await t.runtime.db.$count(schema.auditEntries, eq(schema.auditEntries.tenantId, ours.tenant.id))
  expect((await ask('PUT', one)).status).toBe(200)
  expect(await t.runtime.db.$count(schema.auditEntries, eq(schema.auditEntries.tenantId, ours.tenant.id))).toBe(before)
  // By MAC and NID; parameters are removed, because they are not given.
  expect((await ask('PUT', params('b', { macs: [mac(2).toUpperCase()], nids: [3] }))).status).toBe(200)
  expect([await boots(1), await boots(2), await boots(3)]).toEqual([
    'http://10.0.0.1/a console=ttyS0 root="LABEL=a b"',
    'http://10.0.0.1/b',
    'http://10.0.0.1/b',
  ])
  expect((await ask('PATCH', { nids: [3], params: 'quiet' })).status).toBe(200)
  expect([await boots(2), await boots(3)]).toEqual(['http://10.0.0.1/b', 'http://10.0.0.1/b quiet'])
  expect(await profiles()).toHaveLength(3)
  expect((await ask('DELETE', { kernel: 'http://10.0.0.1/b' })).status).toBe(200)
  expect([await boots(2), await boots(3)]).toEqual([null, null])
  expect((await ask('DELETE', { hosts: [xname(1)] })).status).toBe(200)
  expect((await ask('DELETE', { hosts: [xname(1)] })).body.detail).toBe(`${xname(1)} has no boot parameters.`)
  expect((await ask('PATCH', { hosts: [xname(1)], params: 'quiet' })).status).toBe(404)
  expect(await profiles()).toEqual([])
  expect(await ask('GET')).toEqual({ status: 200, body: [] })
})

test('filters by hosts, MACs and NIDs, in the query and in the body', async () => {
  await ask('PUT', params('a', { hosts: [xname(1), xname(2)] }))
  await ask('PUT', params('b', { hosts: [xname(3)] }))
  const named = (query: string) => ask('GET', undefined, query).then(({ body }) => body)
  expect(await named(`?name=${xname(2).toUpperCase()},${xname(3)}`)).toMatchObject([
    { hosts: [xname(2).toUpperCase()], kernel: 'http://10.0.0.1/a' },
    { hosts: [xname(3)], kernel: 'http://10.0.0.1/b' },
  ])
  expect(await named(`?mac=${mac(1)}&nid=3&nid=2`)).toMatchObject([{ macs: [mac(1)], nids: [2] }, { nids: [3] }])
  for (const [query, status] of [
    [`?name=${xname(9)}`, 404],
    ['?name=Default', 404],
    ['?nid=x', 400],
    ['?arch=x', 400],
  ] as const)
    expect((await ask('GET', undefined, query)).status, query).toBe(status)
  const withBody = (body: string) =>
    new Promise<number>((resolve, reject) => {
      void t.tokenOf(ours.admin).then((token) => {
        const headers = { authorization: `Bearer ${token}`, 'content-length': Buffer.byteLength(body) }
        const request = httpRequest({ host: '127.0.0.1', port: server.port, path: PATH, method: 'GET', headers }, (response) => {
          resolve(response.resume().statusCode!)
        })
        request.on('error', reject).end(body)
      })
    })
  expect(await withBody(JSON.stringify({ hosts: [xname(3)] }))).toBe(200)
  expect(await withBody(JSON.stringify({ kernel: 'http://10.0.0.1/none' }))).toBe(404)
  expect(await withBody('hosts')).toBe(400)
})

test('maps Default, Global, unknown machines and groups', async () => {
  const userData = { packages: ['chrony'], write_files: [{ path: '/etc/motd', content: 'a' }] }
  const cloudInit = { 'meta-data': {}, 'user-data': userData, 'phone-home': { hostname: '' } }
  expect((await ask('PUT', { hosts: ['Global'], params: 'quiet', 'cloud-init': cloudInit })).status).toBe(200)
  expect((await ask('PUT', params('d', { hosts: ['Default'] }))).status).toBe(200)
  expect(await boots(1)).toBe('http://10.0.0.1/d quiet')
  // A merge patch: packages go, and a key comes.
  const patch = { 'user-data': { packages: null, locale: 'C' } }
  expect((await ask('PATCH', { hosts: ['Global'], 'cloud-init': patch })).status).toBe(200)
  const { profile } = (await effectiveBootProfiles(ours.viewer, [ids.cn1!])).get(ids.cn1!)!
  expect(profile!.userData.map(({ value }) => value)).toEqual([
    '#cloud-config\nwrite_files:\n  - path: /etc/motd\n    content: a\nlocale: C\n',
  ])
  const group = await createNodeGroup(ours.admin, { name: 'row_b', displayName: 'row-b' })
  await setNodeGroupMembers(ours.admin, { id: group.id, addNodeIds: [ids.cn2!] })
  expect((await ask('POST', params('g', { hosts: ['row-b'] }))).status).toBe(201)
  expect([await boots(1), await boots(2)]).toEqual(['http://10.0.0.1/d quiet', 'http://10.0.0.1/g quiet'])
  expect((await ask('POST', params('u', { hosts: ['Unknown-x86_64', 'Unknown-aarch64'] }))).status).toBe(201)
  const { body } = await ask('GET')
  expect(body.map((entry: { hosts: string[]; kernel?: string }) => [entry.hosts, entry.kernel])).toEqual([
    [['Global'], undefined],
    [['Default'], 'http://10.0.0.1/d'],
    [['row-b'], 'http://10.0.0.1/g'],
    [['Unknown-arm64'], 'http://10.0.0.1/u'],
    [['Unknown-x86_64'], 'http://10.0.0.1/u'],
  ])
  expect(body[0]['cloud-init']['user-data']).toEqual({ write_files: [{ path: '/etc/motd', content: 'a' }], locale: 'C' })
  expect((await ask('DELETE', { hosts: ['Unknown-arm64', 'Global', 'Default', 'row-b', 'Unknown-x86_64'] })).status).toBe(200)
  expect(await profiles()).toEqual([])
})

test.each<[string, object]>([
  ['Muster renders it from the inventory', params('a', { hosts: ['Default'], 'cloud-init': { 'meta-data': { a: 1 } } })],
  ['only nodes report it', params('a', { hosts: ['Default'], 'cloud-init': { 'phone-home': { hostname: 'x' } } })],
  ['name hosts, macs or nids', params('a')],
  ['give at least one of', { hosts: ['Default'] }],
  ['Default needs a kernel', { hosts: ['Default'], params: 'quiet' }],
  ['set the kernel and initrd of Default', params('a', { hosts: ['Global'] })],
  ['use Unknown-x86_64 or Unknown-arm64', params('a', { hosts: ['Unknown-riscv64'] })],
  ['must be an http, https, tftp or nfs URL', { hosts: ['Default'], kernel: 's3://boot/vmlinuz' }],
  ['Muster issues no join tokens', params('a', { hosts: ['Default'], params: `token=\${SPIRE_JOIN_TOKEN}` })],
  ['No node has the MAC 02:00:5e:20:00:09', params('a', { macs: ['02:00:5e:20:00:09'] })],
  ['There is no node with the xname or name Compute, and no group Compute', params('a', { hosts: ['Compute'] })],
])('refuses a request, and changes nothing: %s', async (detail, body) => {
  const answer = await ask('PUT', body)
  expect(answer.body.detail).toContain(detail)
  expect([400, 404]).toContain(answer.status)
  expect(await profiles()).toEqual([])
})

test('does not replace a profile that was not set with boot parameters, and reads it', async () => {
  const base = await createBootProfile(ours.admin, { name: 'base', kernel: { url: 'http://10.0.0.1/base' } })
  const child = await createBootProfile(ours.admin, { name: 'child', parentId: base.id, kernelParams: ['quiet'] })
  await assignBootProfile(ours.admin, { profileId: child.id, nodeIds: [ids.cn1!] })
  const extra = await createBootProfile(ours.admin, { name: 'extra', kernelParams: ['debug'] })
  await assignBootProfile(ours.admin, { profileId: extra.id, nodeIds: [ids.cn2!] })
  for (const method of ['POST', 'PUT', 'PATCH', 'DELETE'])
    expect((await ask(method, params('a', { hosts: [xname(1)] }))).body, method).toMatchObject({
      ...{ status: 409, detail: expect.stringContaining(`The boot profile child is assigned to ${xname(1)}.`) },
    })
  expect((await ask('GET', undefined, `?name=${xname(1)}`)).body).toMatchObject([
    { hosts: [xname(1)], kernel: 'http://10.0.0.1/base', params: 'quiet' },
  ])
  // An added profile stays.
  expect((await ask('POST', params('a', { hosts: [xname(2)] }))).status).toBe(201)
  expect(await boots(2)).toBe('http://10.0.0.1/a debug')
  // A profile that a user changed is kept for its other nodes, and equal parameters get a new one.
  const name = (await profiles()).find((each) => each.startsWith('bss-'))!
  const [stored] = await t.runtime.db
    .select()
    .from(schema.bootProfiles)
    .where(and(eq(schema.bootProfiles.tenantId, ours.tenant.id), eq(schema.bootProfiles.name, name)))
  await updateBootProfile(ours.admin, { id: stored!.id, version: 1, kernelParams: ['edited'] })
  expect((await ask('PUT', params('a', { hosts: [xname(3)] }))).status).toBe(200)
  expect(await boots(3)).toBe('http://10.0.0.1/a')
  expect(await profiles()).toContain(`${name}-2`)
  for (const method of ['PUT', 'PATCH', 'DELETE'])
    expect((await ask(method, params('b', { hosts: [xname(2)] }))).body, method).toMatchObject({
      ...{ status: 409, detail: expect.stringContaining(`The boot profile ${name} is assigned to ${xname(2)}.`) },
    })
  expect(await boots(2)).toBe('http://10.0.0.1/a debug edited')
})

test('does not use a profile of a person that has the name of equal boot parameters', async () => {
  await ask('PUT', params('a', { hosts: [xname(1)] }))
  const [name] = await profiles()
  await ask('DELETE', { hosts: [xname(1)] })
  await createBootProfile(ours.admin, { name: name!, kernel: { url: 'http://10.0.0.1/other' } })
  expect((await ask('PUT', params('a', { hosts: [xname(1)] }))).status).toBe(200)
  expect(await boots(1)).toBe('http://10.0.0.1/a')
  expect((await profiles()).sort()).toEqual([name, `${name}-2`])
})

test('keeps a profile that a boot rule assigns', async () => {
  await ask('PUT', params('a', { hosts: [xname(1)] }))
  const { id, name } = (await t.runtime.db.query.bootProfiles.findFirst({ where: { tenantId: ours.tenant.id } }))!
  await createBootRule(ours.admin, { name: 'rack', names: 'rack[1-9]', macPrefixes: ['02'], profileId: id })
  expect(await ask('PUT', params('b', { hosts: [xname(1)] }))).toEqual({ status: 200, body: null })
  expect(await boots(1)).toBe('http://10.0.0.1/b')
  expect(await profiles()).toContain(name)
})

test('of concurrent requests for a node, the last one counts', async () => {
  const answers = await Promise.all(['a', 'b', 'c'].map((kernel) => ask('PUT', params(kernel, { hosts: [xname(1)] }))))
  expect(answers.map(({ status }) => status)).toEqual([200, 200, 200])
  expect(await profiles()).toHaveLength(1)
})

test('needs a token, also to read, and the permission to write boot profiles; other tenants have no such nodes', async () => {
  await ask('PUT', params('a', { hosts: [xname(1)] }))
  const others = await t.given.tenant()
  await t.runtime.db.update(schema.tenants).set({ name: 'Public' }).where(eq(schema.tenants.id, ours.tenant.id))
  expect((await call(null, 'GET', PATH)).status).toBe(401)
  expect((await call(null, 'PUT', PATH, params('b', { hosts: [xname(1)] }))).status).toBe(401)
  expect((await call(ours.viewer, 'GET', PATH)).body).toHaveLength(1)
  const denied = await call(ours.operator, 'PUT', PATH, params('b', { hosts: [xname(1)] }))
  expect(denied).toMatchObject({ status: 403, body: { detail: expect.stringContaining('boot_profile:write') } })
  expect((await call(others.admin, 'GET', PATH)).body).toEqual([])
  expect((await call(others.admin, 'PUT', PATH, params('b', { hosts: [xname(1)] }))).status).toBe(404)
  expect((await call(null, 'GET', '/boot/v1/service/status')).body).toEqual({ 'bss-status': 'running' })
  await t.runtime.db.update(schema.tenants).set({ name: ours.tenant.id }).where(eq(schema.tenants.id, ours.tenant.id))
})
