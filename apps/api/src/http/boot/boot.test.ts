import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { request as httpsRequest } from 'node:https'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { assignBootProfile, createBootProfile, updateBootProfile } from '@muster/core/boot-profiles'
import { acceptUnknownMachine, rejectUnknownMachine } from '@muster/core/boot-service'
import { decommissionNode } from '@muster/core/node-states'
import { addNode } from '@muster/core/nodes'
import { schema } from '@muster/core/registry'
import type { TenantFixture } from '@muster/core/testing'
import { eq } from 'drizzle-orm'
import { afterAll, beforeAll, describe, expect, onTestFinished, test } from 'vitest'
import { testApi } from '../../testing/api.ts'
import { bootConfigOf, bootUrlsOf } from './config.ts'
import { serveBoot } from './server.ts'

const { alerts, bootAttempts, bootFetches, unknownMachines } = schema
const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIEl0JzdmWmBTpMUO8mPbZ1kZn6Iu7dB2nQ5bKm3H0x0V admin@site'
const MAC = '02:00:5e:10:00:01'

let t: Awaited<ReturnType<typeof testApi>>
let ours: TenantFixture
let base: string
beforeAll(async () => {
  t = await testApi()
  ours = await t.given.tenant()
  await t.given.tenant('Other site')
  base = await serve()
  await createNode('cn1', MAC, { xname: 'x1000c0s0b0n0', nid: 7 })
  const parent = await createBootProfile(ours.admin, {
    name: 'base',
    kernel: { url: 'http://files.test/vmlinuz' },
    initrds: [{ url: 'http://files.test/initrd.img' }],
    kernelParams: ['console=ttyS0', 'nid=9'],
    userData: '#cloud-config\npackages: [chrony]\nusers: [default]\n',
  })
  const profile = await createBootProfile(ours.admin, {
    name: 'compute',
    parentId: parent.id,
    adminUser: 'ops',
    sshKeys: [KEY],
    userData: '#!/bin/sh\necho hello\n',
    networkConfig: 'version: 2\nethernets: {}\n',
  })
  await assignBootProfile(ours.admin, { profileId: profile.id, allNodes: true })
})
afterAll(() => t?.close())

async function serve(settings: object = {}): Promise<string> {
  const defaults = { BOOT_HOST: '127.0.0.1', BOOT_PORT: 0, BOOT_URL: 'http://boot.test', BOOT_TOKENS_WITHOUT_TLS: '0' as const }
  const all = { ...defaults, BOOT_TENANT: ours.tenant.name, ...settings } as Parameters<typeof bootConfigOf>[0]
  const server = await serveBoot(t.api, bootConfigOf(all, '')!, bootUrlsOf(all, ''))
  const stop = () => server.stop()
  if (base) onTestFinished(stop)
  return `http://127.0.0.1:${server.port}`
}
const createNode = (name: string, mac: string, more: object = {}) =>
  addNode(ours.operator, { name, host: name, interfaces: [{ name: 'eth0', mac, isBoot: true }], ...more })
const get = async (path: string, init?: RequestInit, from = base) => {
  const response = await fetch(`${from}${path}`, init)
  return { status: response.status, type: response.headers.get('content-type'), text: await response.text() }
}
const script = async (query: string, from?: string) => (await get(`/boot/v1/bootscript?${query}`, undefined, from)).text
const machine = async (mac: string) => (await t.runtime.db.select().from(unknownMachines).where(eq(unknownMachines.mac, mac)))[0]
let lastMac = 100
const freshMac = () => `02:00:5e:10:01:${(lastMac++).toString(16)}`

describe('boot scripts', () => {
  test('load the profile with the parameters that it does not set', async () => {
    expect(await script(`mac=${MAC.toUpperCase().replaceAll(':', '-')}&arch=x86_64&retry=1`)).toBe(
      `#!ipxe
kernel --name kernel http://files.test/vmlinuz initrd=initrd console=ttyS0 nid=9 xname=x1000c0s0b0n0 BOOTIF=01-02-00-5e-10-00-01 ds=nocloud-net;s=http://boot.test/boot/v1/nocloud/cn1/ || goto boot_retry
initrd --name initrd http://files.test/initrd.img || goto boot_retry
boot || goto boot_retry
:boot_retry
sleep 10
chain http://boot.test/boot/v1/bootscript?mac=${MAC}&arch=x86_64&retry=2
`,
    )
  })

  test('the MAC takes precedence over the name, and the name over the NID', async () => {
    await createNode('cn2', freshMac())
    for (const [query, name] of [
      [`mac=${MAC}&name=cn2`, 'cn1'],
      ['name=cn2&nid=7', 'cn2'],
      ['name=x1000c0s0b0n0', 'cn1'],
      ['nid=7', 'cn1'],
    ])
      expect(await script(query!)).toContain(`/nocloud/${name}/`)
  })

  test('json=1 answers like BSS', async () => {
    expect(JSON.parse(await script(`mac=${MAC}&json=1`))).toEqual({
      params: expect.stringMatching(/^kernel initrd=initrd console=ttyS0 .*ds=nocloud-net;s=/),
      kernel: { path: 'http://files.test/vmlinuz' },
      initrd: { path: 'http://files.test/initrd.img' },
    })
  })

  test('rejects requests that name no machine', async () => {
    for (const [query, status, detail] of [
      ['', 400, 'Need a mac=, name=, or nid= parameter'],
      ['nid=abc', 400, "Invalid nid 'abc'"],
      ['mac=ff:ff:ff:ff:ff:ff', 400, 'ff:ff:ff:ff:ff:ff is not a MAC address.'],
      ['nid=99', 404, 'No node has the NID 99.'],
    ] as const) {
      const response = await get(`/boot/v1/bootscript?${query}`)
      expect(response).toMatchObject({ status, type: 'application/problem+json' })
      expect(JSON.parse(response.text)).toMatchObject({ status, detail })
    }
    expect(await get('/boot/v1/bootscript', { method: 'DELETE' })).toMatchObject({ status: 405 })
  })

  test('says why a node has none', async () => {
    const node = await createNode('gone', freshMac())
    await decommissionNode(ours.operator, { id: node.id })
    expect(await script('name=gone')).toContain('The node gone is decommissioned; recommission it first.')
  })
})

describe('unknown machines', () => {
  test('report themselves and ask again until they are accepted', async () => {
    const mac = freshMac()
    const first = await script(`mac=${mac}`)
    expect(first).toContain(`chain http://boot.test/boot/v1/bootscript?mac=${mac}&arch=\${buildarch}&serial=\${serial:uristring}`)
    expect(await machine(mac)).toBeUndefined()
    const waiting = await script(`mac=${mac}&arch=i386&serial=S%201&uuid=u-1&net0=${mac}&net1=`)
    expect(waiting).toBe(`#!ipxe\nsleep 5\nchain http://boot.test/boot/v1/bootscript?mac=${mac}&arch=x86_64&retry=1\n`)
    const found = await machine(mac)
    expect(found).toMatchObject({ arch: 'x86_64', serial: 'S 1', systemUuid: 'u-1', interfaces: [{ name: 'net0', mac }] })
    await acceptUnknownMachine(ours.operator, { id: found!.id, name: 'accepted' })
    expect(await script(`mac=${mac}&arch=x86_64&retry=1`)).toContain('/nocloud/accepted/')
  })

  test('boot from their disk when they are rejected', async () => {
    const mac = freshMac()
    await script(`mac=${mac}&arch=arm64`)
    await rejectUnknownMachine(ours.operator, { id: (await machine(mac))!.id })
    expect(await script(`mac=${mac}&arch=arm64`)).toBe('#!ipxe\nexit\n')
  })

  test('boot the profile for unknown machines of their architecture', async () => {
    const profile = await createBootProfile(ours.admin, {
      name: 'discovery-arm',
      arch: 'arm64',
      kernel: { url: 'http://files.test/discovery' },
    })
    await assignBootProfile(ours.admin, { profileId: profile.id, unknownMachines: true })
    expect(await script(`mac=${freshMac()}&arch=arm64`)).toMatch(
      /^kernel --name kernel http:\/\/files\.test\/discovery BOOTIF=\S+ \|\|/m,
    )
    expect(await script(`mac=${freshMac()}&arch=x86_64`)).not.toContain('discovery')
  })
})

describe('tenants', () => {
  test('the address names the tenant; another one knows none of its machines', async () => {
    const prefix = '/tenants/Other%20site'
    expect(await get(`${prefix}/boot/v1/bootscript?nid=7`)).toMatchObject({ status: 404 })
    expect((await get(`${prefix}/boot/v1/bootscript?mac=${MAC}`)).text).toContain(
      `chain http://boot.test/tenants/Other%20site/boot/v1/bootscript?mac=${MAC}&`,
    )
    expect(await get(`${prefix}/boot/v1/nocloud/cn1/meta-data`)).toMatchObject({ status: 404 })
    expect(await get('/tenants/nobody/boot/v1/bootscript?nid=7')).toMatchObject({ status: 404 })
  })

  test('neither the address of the client nor X-Forwarded-For decides anything', async () => {
    const headers = { 'x-forwarded-for': '10.1.2.3', 'x-real-ip': '10.1.2.3' }
    await get('/boot/v1/bootscript?name=cn1', { headers })
    const fetches = await t.runtime.db.select().from(bootFetches)
    expect(new Set(fetches.map(({ address }) => address))).toEqual(new Set(['127.0.0.1']))
  })
})

describe('cloud-init', () => {
  const data = async (node: string, file: string, from?: string) =>
    (await get(`/boot/v1/nocloud/${node}/${file}`, undefined, from)).text

  test('user-data has the parts of all profiles and the admin user, and no token without TLS', async () => {
    const userData = await data('cn1', 'user-data')
    expect(userData).toMatch(/^Content-Type: multipart\/mixed; boundary="(\S+)"\nMIME-Version: 1\.0\n/)
    const parts = userData
      .split(/^--==muster-\w+==(?:--)?\n/m)
      .slice(1, -1)
      .map((part) => part.split('\n\n').slice(1).join('\n\n'))
    expect(parts.map((part) => part.split('\n')[0])).toEqual(['#cloud-config', '#!/bin/sh', '#cloud-config'])
    for (const line of ['- name: ops', 'lock_passwd: true', 'sudo: ALL=(ALL) NOPASSWD:ALL', `- ${KEY}`])
      expect(parts[2]).toContain(line)
    expect(userData).not.toContain('phone-home')
    const [fetched] = await t.runtime.db.select().from(bootFetches).where(eq(bootFetches.kind, 'USER_DATA'))
    expect(fetched).toMatchObject({ profile: 'base v1 + compute', profileVersion: 1 })
    expect(await t.runtime.db.query.bootAttempts.findFirst({ where: { id: fetched!.attemptId } })).toMatchObject({
      profile: 'compute',
    })
    expect(await data('cn1', 'network-config')).toBe('version: 2\nethernets: {}\n')
    expect(await data('cn1', 'vendor-data')).toBe('')
    expect(await get('/boot/v1/nocloud/cn1/secrets')).toMatchObject({ status: 404 })
    expect(await get('/boot/v1/nocloud/nobody/meta-data')).toMatchObject({ status: 404 })
  })

  test('the instance ID changes exactly when the data change', async () => {
    await createNode('cn3', freshMac())
    const profile = await createBootProfile(ours.admin, { name: 'cn3', kernel: { url: 'http://files.test/a' } })
    const node = await t.runtime.db.query.computeNodes.findFirst({ where: { name: 'cn3' } })
    await assignBootProfile(ours.admin, { profileId: profile.id, nodeIds: [node!.id] })
    const idOf = async () => /^instance-id: (i-\w{16})$/m.exec(await data('cn3', 'meta-data'))![1]
    const before = await idOf()
    await updateBootProfile(ours.admin, { id: profile.id, version: 1, kernel: { url: 'http://files.test/b' } })
    expect(await idOf()).toBe(before)
    await updateBootProfile(ours.admin, { id: profile.id, version: 2, userData: '#!/bin/sh\ntrue\n' })
    expect(await idOf()).not.toBe(before)
  })

  test('the token of a boot is sent once, and reports it once', async () => {
    const from = await serve({ BOOT_TOKENS_WITHOUT_TLS: '1' })
    const mac = freshMac()
    const { id } = await createNode('cn4', mac)
    await script(`mac=${mac}`, from)
    const [first, second] = await Promise.all([data('cn4', 'user-data', from), data('cn4', 'user-data', from)])
    const urls = [first, second].flatMap((text) => /http:\/\/boot\.test(\/boot\/v1\/phone-home\/\S+)/.exec(text)?.[1] ?? [])
    expect(urls).toHaveLength(1)
    const post = { method: 'POST', body: new URLSearchParams({ pub_key_ed25519: KEY, hostname: 'cn4' }) }
    expect(await get('/boot/v1/phone-home/msb_invalid', post, from)).toMatchObject({ status: 404 })
    expect(await get(urls[0]!, post, from)).toMatchObject({ status: 200 })
    expect(await get(urls[0]!, post, from)).toMatchObject({ status: 403, text: expect.stringContaining('already used') })
    const kinds = (await t.runtime.db.select().from(alerts).where(eq(alerts.nodeId, id))).map(({ kind, count }) => [kind, count])
    expect(kinds).toEqual([['boot_token_refused', 2]])
    const [attempt] = await t.runtime.db.select().from(bootAttempts).where(eq(bootAttempts.nodeId, id))
    const fetched = await t.runtime.db.select().from(bootFetches).where(eq(bootFetches.attemptId, attempt!.id))
    expect(fetched.map(({ kind, hasToken }) => `${kind} ${hasToken}`).sort()).toEqual([
      'BOOT_SCRIPT false',
      'PHONE_HOME false',
      'USER_DATA false',
      'USER_DATA true',
    ])
    expect(new Set(fetched.filter(({ kind }) => kind === 'USER_DATA').map(({ hash }) => hash)).size).toBe(1)
  })
})

describe('HTTPS', () => {
  /** A certificate for 127.0.0.1, by Debian's openssl. */
  const certificate = () => {
    const folder = mkdtempSync(path.join(tmpdir(), 'muster-boot-'))
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
    const make =
      'req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=boot.test -addext subjectAltName=IP:127.0.0.1 -keyout key.pem -out cert.pem'
    execFileSync('openssl', make.split(' '), { cwd: folder, stdio: 'ignore' })
    return { BOOT_TLS_CERT_FILE: path.join(folder, 'cert.pem'), BOOT_TLS_KEY_FILE: path.join(folder, 'key.pem') }
  }
  const overTls = (config: { tls: { cert: string } | null }, port: number, requestPath: string, method = 'GET') =>
    new Promise<{ status: number; text: string }>((resolve, reject) => {
      const options = { host: '127.0.0.1', port, path: requestPath, method, ca: config.tls!.cert }
      const request = httpsRequest(options, (response) => {
        let text = ''
        response.setEncoding('utf8').on('data', (part: string) => (text += part))
        response.on('end', () => resolve({ status: response.statusCode!, text }))
      })
      request.on('error', reject).end()
    })

  test('carries the token, which the same boot gets nowhere else, and the report', async () => {
    const settings = {
      BOOT_HOST: '127.0.0.1',
      BOOT_PORT: 0,
      BOOT_TLS_PORT: 0,
      BOOT_URL: 'http://boot.test',
      BOOT_TENANT: ours.tenant.name,
    }
    const all = { ...settings, ...certificate(), BOOT_TOKENS_WITHOUT_TLS: '0' as const }
    const config = bootConfigOf(all, '')!
    const server = await serveBoot(t.api, config, bootUrlsOf(all, ''))
    onTestFinished(() => server.stop())
    const mac = freshMac()
    await createNode('tls1', mac)
    const plain = `http://127.0.0.1:${server.port}`
    await script(`mac=${mac}`, plain)
    const path = '/boot/v1/nocloud/tls1/user-data'
    expect((await get(path, undefined, plain)).text).not.toContain('phone-home')
    const first = await overTls(config, server.tlsPort!, path)
    // The report goes over TLS, too: to the host of BOOT_URL at BOOT_TLS_PORT.
    const [, report] = /https:\/\/boot\.test(?::0)?(\/boot\/v1\/phone-home\/msb_\S+)/.exec(first.text) ?? []
    expect(report).toBeDefined()
    expect((await overTls(config, server.tlsPort!, path)).text).not.toContain('phone-home')
    expect(await overTls(config, server.tlsPort!, report!, 'POST')).toMatchObject({ status: 200 })
    await expect(overTls({ tls: { cert: '' } }, server.tlsPort!, path)).rejects.toThrow(/certificate/)
  })

  test('needs both files, which can be read', () => {
    const settings = { BOOT_PORT: 0, BOOT_TLS_PORT: 0 } as Parameters<typeof bootConfigOf>[0]
    expect(() => bootConfigOf(settings, '')).toThrow('BOOT_TLS_PORT is set, so BOOT_TLS_CERT_FILE must name a PEM file.')
    expect(() => bootConfigOf({ ...settings, ...certificate(), BOOT_TLS_KEY_FILE: '/nowhere/key.pem' }, '')).toThrow(
      'BOOT_TLS_KEY_FILE names /nowhere/key.pem, which cannot be read (ENOENT).',
    )
  })
})

test('a node boots the profile for the architecture that its firmware reports', async () => {
  const mac = freshMac()
  const { id } = await createNode('arm1', mac)
  for (const [name, arch] of [
    ['own-arm', 'aarch64'],
    ['own-x86', 'x86_64'],
  ] as const) {
    const profile = await createBootProfile(ours.admin, { name, arch, kernel: { url: `http://files.test/${name}` } })
    await assignBootProfile(ours.admin, { profileId: profile.id, nodeIds: [id] })
  }
  expect(await script(`mac=${mac}&arch=arm64`)).toContain('/own-arm ')
  expect(await script(`mac=${mac}&arch=arm64`)).toContain(`bootscript?mac=${mac}&arch=aarch64&retry=1`)
  for (const arch of ['x86_64', 'i386']) expect(await script(`mac=${mac}&arch=${arch}`)).toContain('/own-x86 ')
})

test('machines wait while the database is away', async () => {
  const from = await serve()
  await script(`mac=${MAC}`, from)
  const tenantDb = t.runtime.tenantDb
  const away = Object.assign(new Error('terminating connection'), { code: '57P01' })
  const broken = await serveBoot(
    {
      ...t.api,
      deps: { ...t.api.deps, runtime: { ...t.runtime, tenantDb: (tenant: string) => failing(tenantDb(tenant), away) } },
    } as never,
    bootConfigOf({ BOOT_HOST: '127.0.0.1', BOOT_PORT: 0, BOOT_TENANT: ours.tenant.name, BOOT_TOKENS_WITHOUT_TLS: '0' }, '')!,
    bootUrlsOf(
      {
        BOOT_HOST: '127.0.0.1',
        BOOT_PORT: 0,
        BOOT_TENANT: ours.tenant.name,
        BOOT_TOKENS_WITHOUT_TLS: '0',
        BOOT_URL: 'http://boot.test',
      },
      '',
    ),
  )
  onTestFinished(() => broken.stop())
  expect(await script(`mac=${MAC}&arch=x86_64&retry=3`, `http://127.0.0.1:${broken.port}`)).toBe(
    `#!ipxe\nsleep 40\nchain http://boot.test/boot/v1/bootscript?mac=${MAC}&arch=x86_64&retry=4\n`,
  )
})
const failing = <T extends object>(db: T, error: Error): T =>
  new Proxy(db, {
    get: (target, name) =>
      name === 'select'
        ? () => {
            throw error
          }
        : Reflect.get(target, name),
  })
