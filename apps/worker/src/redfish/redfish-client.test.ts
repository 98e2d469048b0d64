import { X509Certificate } from 'node:crypto'
import { LOOPBACK } from '@muster/core/testing'
import { type RedfishEmulator, startRedfishEmulator } from '@muster/lab'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { createCertificate } from '../testing/slurmrestd.ts'
import { createRedfishClient, type RedfishError, type RedfishServer } from './redfish-client.ts'
import { createRedfishDriver } from './redfish-driver.ts'

const PASSWORD = 'password of BMCs'
const SYSTEM = '/redfish/v1/Systems/1'
const pinOf = (cert: string) => new X509Certificate(cert).fingerprint256.replaceAll(':', '').toLowerCase()

let first: { key: string; cert: string }
let second: { key: string; cert: string }
let bmc: RedfishEmulator
beforeAll(() => {
  first = createCertificate()
  second = createCertificate()
})
beforeEach(async () => {
  bmc = await startRedfishEmulator({ certificate: first, password: PASSWORD })
})
afterEach(() => bmc.close())

const signal = new AbortController().signal
function clientOf(server: Partial<RedfishServer> = {}, { password = PASSWORD, timeoutMs = 20_000, targets = LOOPBACK } = {}) {
  const at = { address: '127.0.0.1', port: bmc.port, fingerprint: pinOf(first.cert), caCertificate: null, ...server }
  return createRedfishClient(at, { username: 'admin', password }, { localTargets: targets, signal, timeoutMs, retryMs: 1 })
}
const failure = (work: Promise<unknown>): Promise<RedfishError> =>
  work.then(
    () => expect.unreachable(),
    (error: RedfishError) => error,
  )

describe('sessions', () => {
  it('are created once, used for all requests, and ended', async () => {
    const client = clientOf()
    await client.get(SYSTEM)
    await client.get('/redfish/v1/Systems')
    expect(bmc.sessions.size).toBe(1)
    await client.close()
    expect(bmc.sessions.size).toBe(0)
    expect(bmc.requests.filter((line) => line.startsWith('POST'))).toHaveLength(1)
  })

  it('that expire are replaced once, and the command is sent once', async () => {
    const client = clientOf()
    await client.get(SYSTEM)
    bmc.expireSessions()
    await client.post(`${SYSTEM}/Actions/ComputerSystem.Reset`, { ResetType: 'On' })
    expect(bmc.systems[0]!.resets).toEqual(['On'])
    await client.close()
    expect(bmc.sessions.size).toBe(0)
  })

  it('are ended after an error, too', async () => {
    const driver = createRedfishDriver(clientOf(), '/redfish/v1/Systems/9')
    expect((await failure(driver.readPower())).message).toMatch(/has no such resource \(404\): The resource does not exist/)
    await driver.close()
    expect(bmc.sessions.size).toBe(0)
  })

  it('are replaced by basic authentication when the BMC has none', async () => {
    bmc.hasSessions = false
    const client = clientOf()
    await expect(client.get(SYSTEM)).resolves.toMatchObject({ body: { Id: '1' } })
    await client.close()
    expect(bmc.requests.some((line) => /^(POST|DELETE)/.test(line))).toBe(false)
  })

  it('fail with the words of the BMC, and are not tried again: accounts are locked after few failures', async () => {
    const client = clientOf({}, { password: 'wrong' })
    const error = await failure(client.get(SYSTEM))
    expect([error.kind, error.message]).toEqual([
      'LOGIN',
      'The BMC 127.0.0.1 refuses the user name or password (401): The authentication credentials included with this request are missing or invalid.',
    ])
    expect(bmc.requests).toEqual(['GET /redfish/v1/', 'POST /redfish/v1/SessionService/Sessions'])
    await client.close()
  })
})

describe('a certificate', () => {
  it('other than the pinned one gets no request, and is named', async () => {
    bmc.setCertificate(second)
    const error = await failure(clientOf().get(SYSTEM))
    expect(error).toMatchObject({ kind: 'CERTIFICATE', fingerprint: pinOf(second.cert) })
    expect(error.message).toMatch(/presents another certificate than the pinned one; compare its fingerprint on site/)
    expect(bmc.requests).toEqual([])
  })

  it('that changes between two requests ends the work', async () => {
    const client = clientOf()
    await client.get(SYSTEM)
    const before = bmc.requests.length
    bmc.setCertificate(second)
    bmc.faults.push({ path: /Systems\/1$/, answer: (response) => response.destroy() })
    await failure(client.get(SYSTEM))
    expect(await failure(client.get(SYSTEM))).toMatchObject({ kind: 'CERTIFICATE' })
    expect(bmc.requests).toHaveLength(before + 1)
    await client.close()
  })

  it('of the CA is accepted, and one of nobody is not', async () => {
    const ca = clientOf({ fingerprint: null, caCertificate: first.cert })
    await expect(ca.get(SYSTEM)).resolves.toBeDefined()
    await ca.close()
    for (const caCertificate of [null, second.cert]) {
      const error = await failure(clientOf({ fingerprint: null, caCertificate }).get(SYSTEM))
      expect(error).toMatchObject({ kind: 'CERTIFICATE', fingerprint: pinOf(first.cert) })
      expect(error.message).toMatch(/presents an untrusted certificate/)
    }
  })
})

describe('an answer', () => {
  const answer = (fault: Omit<RedfishEmulator['faults'][number], 'path'> & { path?: RegExp }) =>
    bmc.faults.push({ path: /Systems\/1$/, ...fault })

  it('of a busy BMC is awaited', async () => {
    answer({ times: 2, answer: (response) => response.writeHead(503, { 'retry-after': '0' }).end() })
    const client = clientOf()
    await expect(client.get(SYSTEM)).resolves.toBeDefined()
    answer({ times: 9, answer: (response) => response.writeHead(503).end() })
    expect(await failure(client.get(SYSTEM))).toMatchObject({ kind: 'BUSY', message: 'The BMC 127.0.0.1 is busy (503).' })
    await client.close()
  })

  it('that redirects is refused, also within the BMC', async () => {
    answer({ answer: (response) => response.writeHead(308, { location: '/redfish/v1/Systems/2' }).end() })
    const client = clientOf()
    expect((await failure(client.get(SYSTEM))).message).toMatch(/redirects \(308\), which is not followed/)
    expect(bmc.requests.at(-1)).toBe(`GET ${SYSTEM}`)
    await client.close()
  })

  it.each<[string, (response: Parameters<RedfishEmulator['faults'][number]['answer']>[0]) => unknown, RegExp]>([
    ['that is cut off', (r) => r.writeHead(200).end('{"PowerState":'), /no complete JSON object/],
    ['that is a list', (r) => r.writeHead(200).end('[]'), /no complete JSON object/],
    ['without an end', (r) => r.writeHead(200) && void endless(r), /sends more than 2 MB/],
    ['that never comes', () => {}, /did not respond within 0.3 s/],
    ['that breaks off', (r) => r.writeHead(200, { 'content-length': '99' }).write('{', () => r.destroy()), /before the end/],
  ])('%s is an error', async (_title, write, message) => {
    answer({ times: 9, answer: write })
    const client = clientOf({}, { timeoutMs: _title === 'that never comes' ? 300 : 20_000 })
    expect((await failure(client.get(SYSTEM))).message).toMatch(message)
    await client.close()
  })

  it('with a link out of the service is not followed', async () => {
    for (const target of [
      'https://192.0.2.1/redfish/v1/x',
      '//192.0.2.1/redfish/v1',
      '/redfish/v1/../../etc',
      '/admin',
      '/redfish/v1/%2e%2e/x',
    ])
      expect((await failure(clientOf().get(target))).message).toMatch(/has a link outside of its service/)
    expect(bmc.requests).toEqual([])
  })

  it('at a local address that is not listed is not asked for', async () => {
    expect(await failure(clientOf({}, { targets: [] }).get(SYSTEM))).toMatchObject({ kind: 'TARGET' })
    expect(bmc.requests).toEqual([])
  })
})

const endless = (response: {
  write(text: string): boolean
  destroyed: boolean
  once(event: 'drain', run: () => void): unknown
}) => {
  while (!response.destroyed && response.write(' '.repeat(65_536)));
  if (!response.destroyed) response.once('drain', () => endless(response))
}

describe('a driver', () => {
  it('reads state, inventory, sensors and events', async () => {
    const driver = createRedfishDriver(clientOf(), '')
    expect(await driver.readPower()).toEqual({
      ...{ state: 'OFF', lastReset: '2026-01-01T00:00:00Z', bootDevice: 'NONE', permanentBootDevice: null },
    })
    const { inventory, sensors, events } = await driver.readDetails()
    expect(inventory).toEqual({
      ...{ manufacturer: 'Emulated', model: 'E-1', serial: 'EMU-1', uuid: bmc.systems[0]!.uuid, biosVersion: '1.2.3' },
      ...{ bmcModel: 'Emulated BMC', bmcFirmware: '7.8.9', cpuModel: 'Emulated CPU', cpuCount: 2, memoryBytes: 512 * 1024 ** 3 },
      ...{ macs: ['02:00:5e:30:00:01'], systemPaths: [SYSTEM] },
    })
    expect(sensors).toEqual([
      { name: 'CPU 1', kind: 'Temperature', value: 45.5, unit: 'Cel', health: 'OK' },
      { name: 'Fan 3', kind: 'Fan', value: 0, unit: 'RPM', health: 'Critical' },
      { name: 'Input', kind: 'Power', value: 420, unit: 'W', health: null },
    ])
    // Without the control sequence of a terminal.
    expect(events.map(({ at, message }) => [at, message])).toEqual([
      ['2026-01-02T00:00:00.000Z', 'Fan 3 [2J lost'],
      ['2026-01-01T00:00:00.000Z', 'Power supply inserted'],
    ])
    await driver.close()
  })

  it('chooses the reset that the BMC supports, or names those', async () => {
    bmc.resetTypes = ['On', 'ForceOff', 'ForceRestart']
    const driver = createRedfishDriver(clientOf(), '')
    expect((await driver.prepare('CYCLE', null)).command).toBe('Reset ForceRestart')
    expect((await failure(driver.prepare('OFF', null))).message).toBe(
      'The BMC does not support GracefulShutdown. It supports On, ForceOff, ForceRestart.',
    )
    await driver.close()
  })

  it('boots once from the chosen device, also when another client changed the system in between', async () => {
    const driver = createRedfishDriver(clientOf(), '')
    const boot = await driver.prepare('BOOT_ONCE', 'PXE')
    const other = createRedfishDriver(clientOf(), '')
    await (await other.prepare('BOOT_ONCE', 'BIOS_SETUP')).send()
    await boot.send()
    expect(await driver.readPower()).toMatchObject({ bootDevice: 'PXE' })
    bmc.readsInTransition = 0
    await (await driver.prepare('ON', null)).send()
    await (await driver.prepare('CYCLE', null)).send()
    expect(bmc.systems[0]!.booted).toEqual(['Pxe', 'Hdd'])
    expect(await driver.readPower()).toMatchObject({ state: 'ON', bootDevice: 'NONE' })
    await Promise.all([driver.close(), other.close()])
    expect(bmc.sessions.size).toBe(0)
  })

  it('requires the path of one of several systems', async () => {
    const chassis = await startRedfishEmulator({ certificate: first, password: PASSWORD, systems: 2 })
    const driver = createRedfishDriver(clientOf({ port: chassis.port }), '')
    expect((await failure(driver.readPower())).message).toBe(
      'The BMC has 2 systems: set the path of the node, one of /redfish/v1/Systems/1, /redfish/v1/Systems/2.',
    )
    await driver.close()
    await chassis.close()
  })
})
