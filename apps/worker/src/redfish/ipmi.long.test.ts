import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { BootDevice, ClaimedPowerRun, PowerAction, PowerOutcome } from '@muster/core/power'
import { LOOPBACK } from '@muster/core/testing'
import { downloadDeb } from '@muster/lab'
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest'
import { freePort } from '../testing/free-port.ts'
import { executePowerRun } from './execute-power-run.ts'
import { createIpmiDriver } from './ipmi-driver.ts'
import type { RedfishError } from './redfish-client.ts'

const PACKAGES = ['ipmitool', 'openipmi', 'libopenipmi0', 'libfreeipmi17']
/** Record of the sensor 0x30, in degrees Celsius: its key, entity, masks, units, factors, ranges, thresholds and name. */
const RECORD = [
  ...[0x01, 0x00, 0x51, 0x01, 43 + 8, 0x20, 0x00, 0x30, 0x03, 0x01, 0x67, 0x48, 0x01, 0x01, 0, 0, 0, 0, 0, 0],
  ...[0x00, 0x01, 0x00, 0x00, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0],
  ...[0xc0 + 8, ...Buffer.from('CPU Temp')],
]
const LEVELS = '000111111000000 000111111000000 000111111000000 000111111000000'
const SENSOR = `sensor_add 0x20 0 0x30 0x01 0x01
sensor_set_event_support 0x20 0 0x30 enable scanning per-state ${LEVELS}
sensor_set_value 0x20 0 0x30 45 0
main_sdr_add 0x20 ${RECORD.map((byte) => `0x${byte.toString(16)}`).join(' ')}
`
const PASSWORD = 'pass_of_BMCs'
const signal = new AbortController().signal

/** Debian's ipmitool against Debian's simulator of OpenIPMI, both unpacked and not installed. */
describe.each([
  ['without sensors', ''],
  ['with a sensor', SENSOR],
])('ipmitool and a simulated BMC %s', (_title, sensor) => {
  const folder = mkdtempSync(path.join(tmpdir(), 'muster-ipmi-'))
  const root = path.join(folder, 'root')
  const libraries = path.join(root, 'usr/lib/x86_64-linux-gnu')
  const ipmitool = path.join(folder, 'ipmitool')
  const seen = path.join(folder, 'seen')
  let simulator: ChildProcess
  let port: number

  beforeAll(async () => {
    mkdirSync(root)
    for (const name of PACKAGES) execFileSync('dpkg-deb', ['-x', downloadDeb(name, folder)!, root])
    // Also records what others on the machine can see of the process.
    const record = `tr '\\0' '\\n' < /proc/$$/cmdline >> ${seen}; tr '\\0' '\\n' < /proc/$$/environ >> ${seen}`
    const script = `#!/bin/sh\n${record}\nexport LD_LIBRARY_PATH=${libraries}\nexec ${root}/usr/bin/ipmitool "$@"\n`
    writeFileSync(ipmitool, script, { mode: 0o755 })
    const chassis = path.join(folder, 'chassis')
    const control = `#!/bin/sh
echo "$*" >> ${folder}/chassis.log
shift; op=$1; shift
while [ $# -gt 0 ]; do
  case "$op" in
    get) echo "$1:$(cat ${folder}/$1 2>/dev/null || { [ "$1" = power ] && echo 0 || echo none; })"; shift ;;
    *) echo "$2" > ${folder}/$1; shift 2 ;;
  esac
done
`
    writeFileSync(chassis, control, { mode: 0o755 })
    port = await freePort()
    const auths = ['callback', 'user', 'operator', 'admin'].map((level) => `    allowed_auths_${level} none md2 md5 straight`)
    const config = `name "muster"
set_working_mc 0x20
  startlan 1
    addr 127.0.0.1 ${port}
    priv_limit admin
${auths.join('\n')}
    guid a123456789abcdefa123456789abcdef
  endlan
  chassis_control "${chassis} 0x20"
  user 2 true "admin" "${PASSWORD}" admin 10 none md2 md5 straight
`
    writeFileSync(path.join(folder, 'lan.conf'), config)
    const commands = `mc_setbmc 0x20
mc_add 0x20 0 no-device-sdrs 0x23 9 8 0x9f 0x1291 0xf02 persist_sdr
sel_enable 0x20 1000 0x0a
sel_add 0x20 0x02 0x00 0x00 0x00 0x00 0x20 0x00 0x04 0x01 0x30 0x01 0x09 0xff 0xff
${sensor}mc_enable 0x20
`
    writeFileSync(path.join(folder, 'emu'), commands)
    mkdirSync(path.join(folder, 'state'))
    const args = ['-c', `${folder}/lan.conf`, '-f', `${folder}/emu`, '-s', `${folder}/state`, '-n']
    simulator = spawn(path.join(root, 'usr/bin/ipmi_sim'), args, {
      stdio: 'ignore',
      env: { LD_LIBRARY_PATH: libraries, PATH: process.env.PATH },
    })
    await vi.waitFor(() => driver().readPower(), { timeout: 30_000 })
  }, 120_000)
  afterAll(() => {
    simulator?.kill('SIGKILL')
    rmSync(folder, { recursive: true, force: true })
  })

  const driver = (password = PASSWORD, at = port) =>
    createIpmiDriver(
      { address: '127.0.0.1', port: at },
      { username: 'admin', password },
      { localTargets: LOOPBACK, signal, timeoutMs: 20_000 },
      ipmitool,
    )
  const send = async (action: PowerAction, device: BootDevice | null) => (await driver().prepare(action, device)).send()
  const failure = (work: Promise<unknown>): Promise<RedfishError> =>
    work.then(
      () => expect.unreachable(),
      (error: RedfishError) => error,
    )

  it('reads firmware, UUID, sensors and events, without parts that the BMC does not have', async () => {
    const { inventory, sensors, events } = await driver().readDetails()
    expect(inventory).toMatchObject({ bmcFirmware: '9.08', uuid: expect.stringMatching(/^[0-9a-f-]{36}$/), serial: null })
    expect(sensors).toEqual(sensor === '' ? [] : [{ name: 'CPU Temp', kind: 'Sensor', value: 45, unit: 'Cel', health: 'OK' }])
    expect(events).toMatchObject([{ message: expect.stringContaining('Upper Critical going high') }])
  })

  // Each command takes ten seconds: ipmitool waits for a response that the simulator never sends.
  if (sensor !== '') return

  it('powers the machine on, through a cycle, and off', async () => {
    expect((await driver().readPower()).state).toBe('OFF')
    await send('ON', null)
    expect((await driver().readPower()).state).toBe('ON')
    await send('CYCLE', null)
    await vi.waitFor(async () => expect((await driver().readPower()).state).toBe('ON'), { timeout: 20_000 })
    expect(readFileSync(path.join(folder, 'chassis.log'), 'utf8').match(/set power \d/g)).toEqual([
      'set power 1',
      'set power 0',
      'set power 1',
    ])
    await send('FORCE_OFF', null)
    expect((await driver().readPower()).state).toBe('OFF')
  })

  it('powers a machine on that slurmctld resumes, when it is off, and cycles it when it is on', async () => {
    const resume = async () => {
      writeFileSync(path.join(folder, 'chassis.log'), '')
      const outcomes: PowerOutcome[] = []
      const item = { id: '0', nodeName: 'a', sentAt: null, bmc: { id: '0' } }
      const run = { action: 'CYCLE', slurmClusterId: 'c', bootDevice: null, parallelism: 1, delaySeconds: 0 }
      await executePowerRun({ run, items: [item] } as unknown as ClaimedPowerRun, {
        ...{ signal, canceled: signal },
        open: async () => driver(),
        journal: {
          command: async () => 'SEND',
          result: async (_id, outcome) => outcomes.push(outcome) > 0,
          reading: async () => {},
        },
      })
      const sent = readFileSync(path.join(folder, 'chassis.log'), 'utf8').match(/set power \d/g)
      return { result: outcomes[0]?.result, after: outcomes[0]?.after, sent }
    }
    await send('FORCE_OFF', null)
    expect(await resume()).toEqual({ result: 'DONE', after: 'ON', sent: ['set power 1'] })
    const cycled = { result: expect.stringMatching(/^(DONE|ACCEPTED)$/), after: 'ON', sent: ['set power 0', 'set power 1'] }
    expect(await resume()).toEqual(cycled)
  })

  it('chooses the device of the next boot', async () => {
    await send('BOOT_ONCE', 'PXE')
    expect(readFileSync(path.join(folder, 'boot'), 'utf8')).toBe('pxe\n')
    expect((await failure(driver().prepare('BOOT_ONCE', 'HTTP'))).message).toBe('IPMI has no boot over HTTP. Choose PXE.')
  })

  it('never erases the empty repository of sensors, which ipmitool does when it lists sensors', async () => {
    writeFileSync(seen, '')
    await driver().readDetails()
    const commands = readFileSync(seen, 'utf8').split('\n')
    expect(commands).toContain('sdr')
    expect(commands).not.toContain('elist')
    // The privilege of readings is a second protection: between the two commands a repository may be empty for a moment.
    const args = ['-I', 'lanplus', '-H', '127.0.0.1', '-p', String(port), '-U', 'admin', '-f', '/dev/stdin']
    const erasing = spawnSync(ipmitool, [...args, '-L', 'USER', 'sdr', 'list', 'full'], { input: PASSWORD, encoding: 'utf8' })
    expect(erasing.stderr).toMatch(/Unable to clear SDRR: Insufficient privilege level/)
    expect(commands.filter((word) => word === 'USER').length).toBeGreaterThan(0)
    expect(commands).not.toContain('OPERATOR')
  })

  it('passes no password in arguments or the environment', async () => {
    await driver().readPower()
    const visible = readFileSync(seen, 'utf8')
    expect(visible).toContain('/dev/stdin')
    expect(visible).not.toContain(PASSWORD)
  })

  it('says why it cannot sign in, or reach the BMC', async () => {
    expect(await failure(driver('wrong').readPower())).toMatchObject({ kind: expect.stringMatching(/LOGIN|UNREACHABLE/) })
    expect(await failure(driver(PASSWORD, await freePort()).readPower())).toMatchObject({ kind: 'UNREACHABLE' })
    expect((await failure(driver('x'.repeat(21)).readPower())).message).toMatch(/more than 20 bytes/)
  })
})
