import { X509Certificate } from 'node:crypto'
import type { BmcLogin } from '@muster/core/credentials'
import type { BootDevice, ClaimedPowerRun, PowerAction, PowerOutcome } from '@muster/core/power'
import { LOOPBACK } from '@muster/core/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createCertificate } from '../testing/slurmrestd.ts'
import { SUSHY_LOGIN, type SushyEmulator, startSushyEmulator } from '../testing/sushy-emulator.ts'
import { executePowerRun } from './execute-power-run.ts'
import { probeBmc } from './probe-bmc.ts'
import { createRedfishClient, type RedfishError } from './redfish-client.ts'
import { createRedfishDriver } from './redfish-driver.ts'

const SYSTEMS = ['a', 'b'].map((digit, i) => ({
  uuid: `00000000-0000-4000-8000-00000000000${digit}`,
  name: `sushy-${digit}`,
  mac: `02:00:5e:30:01:0${i}`,
}))
const pathOf = (i: number) => `/redfish/v1/Systems/${SYSTEMS[i]!.uuid}`
const TIMES = {
  pollMs: 50,
  settleMs: 10_000,
  deadlineMs: { ON: 30_000, OFF: 30_000, FORCE_OFF: 30_000, RESTART: 30_000, CYCLE: 30_000 },
}

describe.runIf(process.env.SUSHY_TOOLS && process.env.TEST_PYTHON)("OpenStack's Redfish emulator (sushy-tools)", () => {
  let certificate: { key: string; cert: string }
  let bmc: SushyEmulator
  beforeAll(async () => {
    certificate = createCertificate()
    bmc = await startSushyEmulator(certificate, SYSTEMS)
  }, 70_000)
  afterAll(() => bmc?.stop())

  const pin = () => new X509Certificate(certificate.cert).fingerprint256.replaceAll(':', '').toLowerCase()
  const signal = new AbortController().signal
  const limits = { localTargets: LOOPBACK, signal }
  const clientOf = (fingerprint = pin(), password = SUSHY_LOGIN.password) =>
    createRedfishClient(
      { address: '127.0.0.1', port: bmc.port, fingerprint, caCertificate: null },
      { ...SUSHY_LOGIN, password },
      limits,
    )
  const failure = (work: Promise<unknown>): Promise<RedfishError> =>
    work.then(
      () => expect.unreachable(),
      (error: RedfishError) => error,
    )

  /** Runs an action on both systems, as a worker does. @returns the outcome of each */
  async function run(action: PowerAction, bootDevice: BootDevice | null = null): Promise<PowerOutcome[]> {
    const outcomes: PowerOutcome[] = []
    const items = SYSTEMS.map(({ name }, i) => ({ id: String(i), nodeName: name, sentAt: null, bmc: { id: String(i) } }))
    const claimed = { run: { action, bootDevice, parallelism: 2, delaySeconds: 0 }, items } as unknown as ClaimedPowerRun
    await executePowerRun(claimed, {
      ...{ signal, canceled: signal, times: TIMES },
      open: async ({ id }) => createRedfishDriver(clientOf(), pathOf(Number(id))),
      journal: {
        command: async () => 'SEND',
        result: async (id, outcome) => {
          outcomes[Number(id)] = outcome
          return true
        },
        reading: async () => {},
      },
    })
    return outcomes
  }
  const resultsOf = async (...request: Parameters<typeof run>) =>
    (await run(...request)).map(({ result, after }) => [result, after])

  it('is used over TLS with the pinned certificate only, and with basic authentication: it has no sessions', async () => {
    expect(await failure(clientOf('0'.repeat(64)).get(pathOf(0)))).toMatchObject({ kind: 'CERTIFICATE', fingerprint: pin() })
    expect(await failure(clientOf(pin(), 'wrong').get(pathOf(0)))).toMatchObject({ kind: 'LOGIN', status: 401 })
    const client = clientOf()
    expect((await client.root()).body).toMatchObject({ RedfishVersion: expect.any(String) })
    await expect(client.get(pathOf(0))).resolves.toMatchObject({ body: { Name: 'sushy-a' } })
    await client.close()
  })

  it('reports inventory and sensors; it has no event log', async () => {
    const driver = createRedfishDriver(clientOf(), pathOf(0))
    const { inventory, sensors, events } = await driver.readDetails()
    expect(inventory).toMatchObject({
      ...{ manufacturer: 'Sushy Emulator', uuid: SYSTEMS[0]!.uuid, macs: [SYSTEMS[0]!.mac], serial: null },
      ...{ bmcModel: 'Joo Janta 200', bmcFirmware: '1.00' },
    })
    expect(sensors).toContainEqual({ name: 'CPU Temp', kind: 'Temperature', value: 41, unit: 'Cel', health: 'OK' })
    expect(sensors).toContainEqual({ name: 'BaseBoard System Fan', kind: 'Fan', value: 2100, unit: 'RPM', health: 'OK' })
    expect(events).toEqual([])
    await driver.close()
  })

  it('is found by a search, with its systems behind a trusted certificate only', async () => {
    const login: BmcLogin = { ...SUSHY_LOGIN, credential: 'bmcs', assertHost() {} }
    const search = (caCertificate: string | null) => probeBmc('127.0.0.1', { port: bmc.port, caCertificate }, login, limits)
    expect(await search(null)).toMatchObject({ fingerprint: pin(), systems: [], message: expect.stringMatching(/not trusted/) })
    const found = await search(certificate.cert)
    expect(found!.systems.map(({ inventory, state }) => [inventory.macs, state])).toEqual(
      SYSTEMS.map(({ mac }) => [[mac], 'OFF']),
    )
  })

  it('powers on, restarts, cycles, shuts down and powers off, each verified by its state', async () => {
    expect(await resultsOf('ON')).toEqual(SYSTEMS.map(() => ['DONE', 'ON']))
    expect(await resultsOf('ON')).toEqual(SYSTEMS.map(() => ['UNCHANGED', 'ON']))
    // It reports no time of the last reset: only a reading while the system is off shows the effect.
    const reset = SYSTEMS.map(() => [expect.stringMatching(/^(DONE|ACCEPTED)$/), 'ON'])
    expect(await resultsOf('RESTART')).toEqual(reset)
    expect(await resultsOf('CYCLE')).toEqual(reset)
    expect(await resultsOf('OFF')).toEqual(SYSTEMS.map(() => ['DONE', 'OFF']))
    await run('ON')
    expect(await resultsOf('FORCE_OFF')).toEqual(SYSTEMS.map(() => ['DONE', 'OFF']))
  })

  it('stores the message of a refused NMI', async () => {
    await run('ON')
    expect(await run('NMI')).toMatchObject(
      SYSTEMS.map(() => ({ result: 'REFUSED', message: expect.stringMatching(/Nmi is not supported/) })),
    )
  })

  it('makes a boot device permanent, and the result says so', async () => {
    expect(await run('BOOT_ONCE', 'PXE')).toMatchObject(
      SYSTEMS.map(() => ({ result: 'NOT_VERIFIED', message: expect.stringMatching(/for every boot/) })),
    )
  })
})
