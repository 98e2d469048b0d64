import { resolveTarget, TargetError } from '@muster/core/outbound'
import type { BmcSensor, BootDevice, PowerAction } from '@muster/core/power'
import { runProgram } from '../executor/executor.ts'
import type { BmcDriver } from './driver.ts'
import { plainText, textOrNull } from './plain-text.ts'
import { RedfishError, type RedfishLimits } from './redfish-client.ts'

const TIMEOUT_MS = 30_000
const MAX_EVENTS = 100

const POWER: Record<Exclude<PowerAction, 'BOOT_ONCE' | 'RESTART'>, string> = {
  ...{ ON: 'on', OFF: 'soft', FORCE_OFF: 'off', CYCLE: 'cycle', NMI: 'diag' },
}
const DEVICES: Record<BootDevice, string | null> = { PXE: 'pxe', HTTP: null, DISK: 'disk', BIOS_SETUP: 'bios', NONE: 'none' }

type Server = { address: string; port: number }

/**
 * Controls a machine over IPMI (RMCP+) with Debian's ipmitool. No library on npm implements RMCP+ with sessions. The password goes through
 * its input: arguments and the environment are visible to others on the machine.
 */
export function createIpmiDriver(
  server: Server,
  login: { username: string; password: string },
  limits: RedfishLimits,
  program = 'ipmitool',
): BmcDriver {
  // With the privilege USER, the BMC refuses changes, so readings use it. Commands need OPERATOR.
  const runAs =
    (privilege: 'USER' | 'OPERATOR') =>
    (...command: string[]) =>
      runIpmitool(program, server, login, ['-L', privilege, ...command], limits)
  const read = runAs('USER')
  const write = runAs('OPERATOR')
  return {
    async readPower() {
      const text = await read('chassis', 'power', 'status')
      const [, state] = /^Chassis Power is (on|off)\s*$/im.exec(text) ?? []
      if (!state) throw new RedfishError('INVALID', named(server, `answers with ${plainText(text, 100) || 'nothing'}`))
      return { state: state.toLowerCase() === 'on' ? 'ON' : 'OFF', lastReset: null, bootDevice: null, permanentBootDevice: null }
    },
    async prepare(action, bootDevice) {
      if (action === 'BOOT_ONCE') {
        const device = DEVICES[bootDevice ?? 'NONE']
        if (device === null) throw new RedfishError('REFUSED', 'IPMI has no boot over HTTP. Choose PXE.')
        const command = ['chassis', 'bootdev', device]
        return { command: command.join(' '), send: async () => void (await write(...command)) }
      }
      if (action === 'RESTART')
        throw new RedfishError('REFUSED', 'IPMI has no restart with a shutdown. Power off and on, or cycle.')
      const command = ['chassis', 'power', POWER[action]]
      return { command: command.join(' '), send: async () => void (await write(...command)) }
    },
    async readDetails() {
      const fru = await read('fru', 'print', '0').catch(ifRefused)
      const info = await read('mc', 'info')
      const field = (text: string, name: string) =>
        textOrNull(new RegExp(`^\\s*${name}\\s*:(.*)$`, 'im').exec(text)?.[1]?.trim(), 200)
      const guid = await read('mc', 'guid').catch(ifRefused)
      const repository = await read('sdr', 'info').catch(ifRefused)
      // `sdr list` and `sel elist` clear and refill an empty sensor repository.
      const isEmpty = /^Record Count\s*:\s*0\s*$/m.test(repository)
      const sensors = isEmpty ? '' : await read('sdr', 'list', 'full').catch(ifRefused)
      const events = await read('sel', isEmpty ? 'list' : 'elist', 'last', String(MAX_EVENTS)).catch(ifRefused)
      return {
        inventory: {
          manufacturer: field(fru, 'Product Manufacturer'),
          model: field(fru, 'Product Name'),
          serial: field(fru, 'Product Serial'),
          uuid: field(guid, 'System GUID')?.toLowerCase() ?? null,
          biosVersion: null,
          bmcModel: field(info, 'Product Name'),
          bmcFirmware: field(info, 'Firmware Revision'),
          ...{ cpuModel: null, cpuCount: null, memoryBytes: null, macs: [], systemPaths: [] },
        },
        sensors: sensors.split('\n').flatMap((line) => sensorOf(line) ?? []),
        events: events
          .split('\n')
          .flatMap((line) => eventOf(line) ?? [])
          .reverse(),
      }
    },
    async close() {},
  }
}

const named = ({ address }: Server, what: string) => `The BMC ${address} ${what}.`

/** A command that the BMC does not have. */
function ifRefused(error: unknown): string {
  if (error instanceof RedfishError && error.kind === 'REFUSED') return ''
  throw error
}

/** Reads `CPU Temp | 45 degrees C | ok`. */
function sensorOf(line: string): BmcSensor | null {
  const [name, reading = '', status = ''] = line.split('|').map((cell) => plainText(cell, 100))
  const [, value, unit = ''] = /^(-?[\d.]+)\s*(.*)$/.exec(reading) ?? []
  if (!name || status === '' || status === 'ns') return null
  const number = value === undefined ? null : Number(value)
  const units: Record<string, string> = { 'degrees C': 'Cel', Volts: 'V', Watts: 'W' }
  const health = { ok: 'OK', nc: 'Warning', cr: 'Critical', nr: 'Critical' }[status] ?? null
  return {
    name,
    kind: 'Sensor',
    value: number !== null && Number.isFinite(number) ? number : null,
    unit: units[unit] ?? unit,
    health,
  }
}

/** Reads `1 | 11/24/2026 | 02:00:00 | Temperature #0x30 | Upper Critical going high | Asserted`. */
function eventOf(line: string) {
  const [id, date = '', time = '', ...text] = line.split('|').map((cell) => plainText(cell, 300))
  if (!id || text.length === 0) return null
  const [, month, day, year] = /^(\d\d)\/(\d\d)\/(\d{2,4})$/.exec(date) ?? []
  const at = year ? Date.parse(`${year.length === 2 ? `20${year}` : year}-${month}-${day}T${time.slice(0, 8)}Z`) : Number.NaN
  return {
    id,
    at: Number.isNaN(at) ? null : new Date(at).toISOString(),
    severity: null,
    message: text.filter(Boolean).join(', '),
  }
}

async function runIpmitool(
  program: string,
  server: Server,
  { username, password }: { username: string; password: string },
  command: string[],
  { localTargets, signal, timeoutMs = TIMEOUT_MS }: RedfishLimits,
): Promise<string> {
  // ipmitool takes 20 bytes, and would cut off the rest.
  if (Buffer.byteLength(password) > 20)
    throw new RedfishError('TARGET', 'The password of the BMC has more than 20 bytes, the limit of IPMI. Set a shorter one.')
  const [found] = await resolveTarget(server.address, server.port, localTargets).catch((error: unknown) => {
    throw error instanceof TargetError ? new RedfishError('TARGET', error.message) : error
  })
  signal.throwIfAborted()
  const options = ['-I', 'lanplus', '-H', found!.address, '-p', String(server.port), '-U', username, '-f', '/dev/stdin']
  const { code, stdout, stderr, timedOut } = await runProgram([...WITH_PIPE, program, ...options, ...command], {
    stdin: `${password}\n`,
    timeoutMs,
    env: { PATH: process.env.PATH ?? '', LC_ALL: 'C', TZ: 'UTC' },
  })
  signal.throwIfAborted()
  if (code === 0) return stdout
  if (timedOut) throw new RedfishError('UNREACHABLE', named(server, `did not answer within ${timeoutMs / 1000} s`))
  if (code === 127)
    throw new RedfishError('TARGET', 'ipmitool is not installed on the worker. Install the package ipmitool, or use Redfish.')
  throw errorOf(server, `${stderr}\n${stdout}`)
}

/**
 * Runs the program that follows with a pipe as its input. Node's own pipes to child processes are sockets, which cannot be opened as
 * /dev/stdin. The script is fixed: it expands no argument.
 */
const WITH_PIPE = ['sh', '-c', 'cat | "$@"', 'sh']

function errorOf(server: Server, text: string): RedfishError {
  const words = plainText(text, 300)
  if (/RAKP 2 HMAC is invalid|unauthorized name|password verification|insufficient privilege/i.test(text))
    return new RedfishError('LOGIN', named(server, `refuses the user name or password: ${words}`))
  if (/Unable to establish|Get Auth Capabilities|timeout|no response|Close Session command failed/i.test(text))
    return new RedfishError('UNREACHABLE', named(server, 'does not answer over IPMI'))
  return new RedfishError('REFUSED', named(server, `refuses the command: ${words}`))
}
