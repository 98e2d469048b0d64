import { execFile } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { addNode } from '../nodes/index.ts'
import type { TenantFixture } from '../testing/factories.ts'
import { nodeEnvironment } from '../testing/node-environment.ts'
import { type TestRuntime, testRuntime } from '../testing/runtime.ts'
import { readDhcpConfig } from './read-dhcp-config.ts'

const run = promisify(execFile)
const PATH = `${process.env.PATH}:/usr/sbin`
const URLS = { scripts: 'http://10.0.0.1:8080/boot/v1', cloudInit: 'https://10.0.0.1:8443/boot/v1' }
const NETWORK = {
  ...{ subnet: '10.0.0.0/24', first: '10.0.0.100', last: '10.0.0.200', router: '10.0.0.1' },
  ...{ nameservers: ['10.0.0.2', '10.0.0.3'], ipxeUrl: 'http://10.0.0.1/ipxe/' },
}

let t: TestRuntime
let tenant: TenantFixture
const folder = mkdtempSync(path.join(tmpdir(), 'muster-dhcp-'))
beforeAll(async () => {
  t = await testRuntime()
  tenant = await t.given.tenant()
  for (const [i, address] of ['10.0.0.11', '10.9.0.12', 'fd00::1'].entries())
    await addNode(tenant.operator, {
      ...{ name: `cn${i}`, host: `cn${i}` },
      interfaces: [
        { name: 'eth0', mac: `02:00:00:00:00:0${i}`, isBoot: true, addresses: [{ address }] },
        {
          name: 'ib0',
          mac: `80:00:02:08:fe:80:00:00:00:00:00:00:7c:fe:90:03:00:29:26:0${i}`,
          addresses: [{ address: `10.0.0.2${i}` }],
        },
      ],
    })
})
afterAll(async () => {
  rmSync(folder, { recursive: true })
  await t?.close()
})

const configOf = (server: 'dnsmasq' | 'kea' | 'coredhcp', more: object = {}) =>
  readDhcpConfig(tenant.viewer, { server, ...NETWORK, ...more }, URLS)
const check = async (program: string, args: (file: string) => string[], text: string) => {
  const file = path.join(folder, 'config')
  writeFileSync(file, text)
  const { stdout, stderr } = await run(program, args(file), { env: { ...nodeEnvironment, PATH } })
  return stdout + stderr
}

test('dnsmasq accepts its configuration', async () => {
  const text = await configOf('dnsmasq')
  expect(text).toContain(`\ndhcp-boot=tag:ipxe,http://10.0.0.1:8080/boot/v1/bootscript?mac=\${netX/mac}\n`)
  expect(text).toContain('\ndhcp-range=10.0.0.100,10.0.0.200,255.255.255.0,43200\n')
  expect(text.match(/^dhcp-host=.*$/gm)).toEqual(['dhcp-host=02:00:00:00:00:00,10.0.0.11,cn0'])
  const dnsmasq = (config: string) => check('dnsmasq', (file) => ['--test', `--conf-file=${file}`], config)
  expect(await dnsmasq(text)).toContain('syntax check OK')
  await expect(dnsmasq(text.replace('dhcp-boot=tag', 'dhcp-boots=tag'))).rejects.toThrow('bad option')
})

test('firmware gets iPXE for its architecture: over TFTP, and over HTTP with the vendor class that it requires', async () => {
  const dnsmasq = await configOf('dnsmasq')
  const { Dhcp4 } = JSON.parse(await configOf('kea'))
  for (const [number, tag, file, isHttp] of [
    [0, 'bios', 'undionly.kpxe', false],
    [7, 'efi', 'ipxe-x86_64.efi', false],
    [11, 'arm', 'ipxe-arm64.efi', false],
    [16, 'efi-http', 'http://10.0.0.1/ipxe/ipxe-x86_64.efi', true],
    [19, 'arm-http', 'http://10.0.0.1/ipxe/ipxe-arm64.efi', true],
  ] as const) {
    expect(dnsmasq).toContain(`\ndhcp-match=set:${tag},option:client-arch,${number}\n`)
    expect(dnsmasq).toContain(`\ndhcp-boot=tag:!ipxe,tag:${tag},${file}\n`)
    expect(dnsmasq.includes(`\ndhcp-option-force=tag:${tag},60,HTTPClient\n`)).toBe(isHttp)
    const [option] = Dhcp4['client-classes'].filter(({ name }: { name: string }) => name === tag)
    expect(option).toMatchObject({
      'boot-file-name': file,
      test: expect.stringContaining(`option[93].hex == 0x${number.toString(16).padStart(4, '0')}`),
    })
    expect(option['option-data']?.[0]?.data).toBe(isHttp ? 'HTTPClient' : undefined)
  }
})

test('Kea accepts its configuration', async () => {
  const text = await configOf('kea')
  const { Dhcp4 } = JSON.parse(text)
  expect(Dhcp4['client-classes'][0]['boot-file-name']).toBe(`http://10.0.0.1:8080/boot/v1/bootscript?mac=\${netX/mac}`)
  expect(Dhcp4.subnet4[0].reservations).toEqual([
    { 'hw-address': '02:00:00:00:00:00', 'ip-address': '10.0.0.11', hostname: 'cn0' },
  ])
  // Without lease files and control sockets in folders of the system.
  const kea = (config: string) =>
    check('kea-dhcp4', (file) => ['-t', file], config.replace('"persist": true', '"persist": false'))
  await kea(text)
  await expect(kea(text.replace('option[175].exists', 'option[175].existing'))).rejects.toThrow()
})

test('CoreDHCP gets iPXE from the folder, and other input is rejected', async () => {
  expect(await configOf('coredhcp')).toContain('\n    - nbp: http://10.0.0.1/ipxe/ipxe-x86_64.efi\n')
  for (const [more, message] of [
    [{ subnet: '10.0.0.0/33' }, 'subnet: must be an IPv4 network'],
    [{ first: '10.1.0.1' }, 'first: must be in 10.0.0.0/24'],
    [{ router: 'gateway' }, 'router: must be an IPv4 address'],
    [{ ipxeUrl: 'ftp://x' }, 'ipxeUrl'],
  ] as const)
    await expect(configOf('dnsmasq', more)).rejects.toThrow(message)
})
