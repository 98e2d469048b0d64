import { execFile } from 'node:child_process'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { createApiToken } from '@muster/core/access'
import { createCredential } from '@muster/core/credentials'
import { schema } from '@muster/core/registry'
import type { TenantFixture } from '@muster/core/testing'
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { testApi } from '../../testing/api.ts'
import { type HttpServer, serveHttp } from '../server.ts'

const run = promisify(execFile)
/** Folder with `ochami`, built from https://github.com/OpenCHAMI/ochami: `OPENCHAMI=DIR npm run test:long -- ochami`. */
const programs = process.env.OPENCHAMI

describe.runIf(programs)("OpenCHAMI's CLI", () => {
  let t: Awaited<ReturnType<typeof testApi>>
  let server: HttpServer
  let ours: TenantFixture
  let folder: string
  let jwt: string
  beforeAll(async () => {
    t = await testApi({ openchami: { publicTenant: 'Public' } })
    server = await serveHttp(t.api, { host: '127.0.0.1', port: 0 })
    ours = await t.given.tenant()
    await t.runtime.db.update(schema.tenants).set({ name: 'Public' }).where(eq(schema.tenants.id, ours.tenant.id))
    folder = await mkdtemp(path.join(tmpdir(), 'muster-ochami-'))
    await createCredential(ours.admin, {
      ...{ name: 'openchami', kind: 'BMC', username: 'root', password: 'a password', allowedHosts: ['172.16.1.0/24'] },
    })
    const { apiToken } = await createApiToken(ours.admin, { name: 'ochami', role: 'admin' })
    jwt = await t.api.deps.auth.jwtOf(apiToken)
  })
  afterAll(async () => {
    await server?.stop()
    await t?.close()
    if (folder) await rm(folder, { recursive: true })
  })

  const ochami = async (...args: string[]) => {
    const common = ['--ignore-config', '--cluster-uri', `http://127.0.0.1:${server.port}`, '--token', jwt]
    const { stdout } = await run(path.join(programs!, 'ochami'), [...common, ...args], {
      env: { HOME: folder, PATH: process.env.PATH },
    })
    return stdout.trim() ? JSON.parse(stdout) : null
  }
  const smd = (...args: string[]) => ochami('smd', ...args)
  const node = (i: number) => `x1000c0s${i}b0n0`

  test('discovers nodes from a file, and again with other addresses', async () => {
    const file = path.join(folder, 'nodes.json')
    const write = (last: number) =>
      writeFile(
        file,
        JSON.stringify({
          bmcs: [1, 2].map((i) => ({
            name: `bmc${i}`,
            xname: `x1000c0s${i}b0`,
            mac: `02:00:00:00:0b:0${i}`,
            ip: `172.16.1.${i}`,
          })),
          nodes: [1, 2].map((i) => ({
            ...{ name: `node0${i}`, nid: i, xname: node(i), groups: ['compute-a'], bmc: `bmc${i}` },
            interfaces: [{ mac_addr: `02:00:00:00:00:0${i}`, ip_addrs: [{ name: 'internal', ip_addr: `172.16.0.${i + last}` }] }],
          })),
        }),
      )
    await write(0)
    await ochami('discover', 'static', '-d', `@${file}`)
    await write(10)
    await ochami('discover', 'static', '--overwrite', '-d', `@${file}`)
    const { Components } = await smd('component', 'get')
    expect(Components).toMatchObject([
      { ID: node(1), NID: 1, Type: 'Node' },
      { ID: node(2), NID: 2, Type: 'Node' },
    ])
    expect(await smd('component', 'get', '--nid', '2')).toMatchObject({ ID: node(2) })
    expect(await smd('iface', 'get', '--mac', '02:00:00:00:00:02')).toMatchObject([
      { ComponentID: node(2), IPAddresses: [{ IPAddress: '172.16.0.12' }] },
    ])
    expect((await smd('rfe', 'get')).RedfishEndpoints).toMatchObject([
      { ID: 'x1000c0s1b0', IPAddress: '172.16.1.1' },
      { ID: 'x1000c0s2b0', IPAddress: '172.16.1.2' },
    ])
    const { ComponentEndpoints } = await smd('compep', 'get')
    expect(ComponentEndpoints).toMatchObject([
      { ID: node(1), RedfishEndpointID: 'x1000c0s1b0' },
      { ID: node(2), RedfishEndpointID: 'x1000c0s2b0' },
    ])
    expect(await smd('group', 'get')).toMatchObject([{ label: 'compute-a', members: { ids: [node(1), node(2)] } }])
  })

  test('changes components, interfaces and groups', async () => {
    await smd('component', 'add', '-d', JSON.stringify({ Components: [{ ID: node(3), NID: 3 }] }))
    await smd('iface', 'add', node(3), '02:00:00:00:00:03', 'internal,172.16.0.3')
    expect(await smd('component', 'get', '--xname', node(3))).toMatchObject({ ID: node(3), NID: 3 })
    await smd('group', 'add', '--description', 'Row B', '--member', node(3), 'row-b')
    await smd('group', 'member', 'add', 'row-b', node(1))
    expect(await smd('group', 'member', 'get', 'row-b')).toEqual({ ids: [node(1), node(3)] })
    await smd('group', 'member', 'set', 'row-b', node(3))
    await smd('group', 'member', 'delete', '--no-confirm', 'row-b', node(3))
    expect(await smd('group', 'member', 'get', 'row-b')).toEqual({ ids: [] })
    await smd('group', 'update', '--description', 'Row C', 'row-b')
    expect(await smd('group', 'get', '--name', 'row-b')).toMatchObject([{ description: 'Row C' }])
    await smd('group', 'delete', '--no-confirm', 'row-b')
    await smd('iface', 'delete', '--no-confirm', '020000000003')
    await smd('component', 'delete', '--no-confirm', node(3))
    await expect(smd('component', 'get', '--xname', node(3))).rejects.toThrow('404')
    await expect(smd('component', 'delete', '--no-confirm', '--all')).rejects.toThrow('400')
    expect(await smd('service', 'status')).toMatchObject({ message: 'HSM is healthy' })
  })
  test('sets, reads, changes and deletes boot parameters', async () => {
    const params = (...args: string[]) => ochami('bss', 'boot', 'params', ...args)
    const values = [
      '--kernel',
      'http://10.0.0.1/vmlinuz',
      '--initrd',
      'http://10.0.0.1/initrd',
      '--params',
      'console=ttyS0 quiet',
    ]
    await params('add', '--xname', node(1), ...values)
    await expect(params('add', '--xname', node(1), ...values)).rejects.toThrow('409')
    await params('set', '--mac', '02:00:00:00:00:02', '--kernel', 'http://10.0.0.1/other')
    await params('update', '--nid', '2', '--params', 'debug')
    expect(await params('get', '--xname', node(1))).toMatchObject([
      { hosts: [node(1)], kernel: 'http://10.0.0.1/vmlinuz', initrd: 'http://10.0.0.1/initrd', params: 'console=ttyS0 quiet' },
    ])
    expect(await params('get')).toMatchObject([
      { hosts: [node(2)], kernel: 'http://10.0.0.1/other', params: 'debug' },
      { hosts: [node(1)] },
    ])
    await params('delete', '--no-confirm', '-d', JSON.stringify({ hosts: [node(1)] }))
    await params('delete', '--no-confirm', '-d', JSON.stringify({ kernel: 'http://10.0.0.1/other' }))
    expect(await params('get')).toEqual([])
    expect(await ochami('bss', 'service', 'status')).toMatchObject({ 'bss-status': 'running' })
  })
})
