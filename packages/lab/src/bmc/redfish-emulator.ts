import { randomBytes } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { createServer, type Server } from 'node:https'
import type { AddressInfo } from 'node:net'

type Json = Record<string, unknown>

export type EmulatedSystem = {
  id: string
  powerState: 'On' | 'Off' | 'PoweringOn' | 'PoweringOff'
  /** Device of the next boot, and whether it applies once. */
  boot: { enabled: 'Disabled' | 'Once' | 'Continuous'; target: string }
  /** Devices from which the system booted, the last one last. */
  booted: string[]
  /** Values of ResetType that the BMC executed. */
  resets: string[]
  lastReset: string | null
  serial: string
  uuid: string
  macs: string[]
}

/** A fault for the requests that it matches; removed after `times` of them. */
export type RedfishFault = {
  method?: string
  path: RegExp
  times?: number
  /** Answers instead of the BMC. `execute` first does what was asked for, as a BMC does that loses its answer. */
  answer: (response: ServerResponse, execute: () => void) => unknown
}

export type RedfishEmulator = {
  port: number
  systems: EmulatedSystem[]
  /** Each request: method and path. */
  requests: string[]
  /** Open sessions. */
  sessions: Set<string>
  faults: RedfishFault[]
  /** Readings of a system during which its power state is in transition; with Infinity it stays there until `settle`. */
  readsInTransition: number
  /** Values of ResetType that the BMC supports. */
  resetTypes: string[]
  hasSessions: boolean
  /** Ends all sessions, as a restart of the BMC does. */
  expireSessions(): void
  settle(): void
  setCertificate(certificate: { key: string; cert: string }): void
  close(): Promise<void>
}

type Options = {
  certificate: { key: string; cert: string }
  username?: string
  password?: string
  systems?: number
  address?: string
  /** Called when a system is switched on (true, also by a restart) or off. */
  onPower?: (system: EmulatedSystem, isOn: boolean) => unknown
}

const ALL_RESETS = ['On', 'ForceOff', 'GracefulShutdown', 'GracefulRestart', 'ForceRestart', 'PowerCycle', 'Nmi']

/**
 * A Redfish service with stateful systems, in this process: sessions, ETags, boots with the semantics of `Once`, power states that change
 * during some readings, and faults.
 */
export async function startRedfishEmulator({
  certificate,
  username = 'admin',
  password = 'password of BMCs',
  systems: count = 1,
  address = '127.0.0.1',
  onPower = () => {},
}: Options): Promise<RedfishEmulator> {
  const systems = Array.from({ length: count }, (_, i): EmulatedSystem => {
    const hex = (i + 1).toString(16).padStart(2, '0')
    return {
      id: String(i + 1),
      powerState: 'Off',
      boot: { enabled: 'Disabled', target: 'None' },
      booted: [],
      resets: [],
      lastReset: '2026-01-01T00:00:00Z',
      serial: `EMU-${i + 1}`,
      uuid: `00000000-0000-4000-8000-0000000000${hex}`,
      macs: [`02:00:5e:30:00:${hex}`],
    }
  })
  const versions = new Map<string, number>()
  const transitions = new Map<string, { reads: number; end: () => void }>()
  let resetCount = 0
  const settle = (id: string) => {
    const transition = transitions.get(id)
    transitions.delete(id)
    transition?.end()
  }

  /** Boots from the chosen device, which applies to this boot only when it was chosen once. */
  function boot(system: EmulatedSystem): void {
    system.booted.push(system.boot.enabled === 'Disabled' ? 'Hdd' : system.boot.target)
    if (system.boot.enabled === 'Once') system.boot = { enabled: 'Disabled', target: 'None' }
  }

  function change(system: EmulatedSystem, through: 'PoweringOn' | 'PoweringOff', end: () => void): void {
    versions.set(system.id, (versions.get(system.id) ?? 0) + 1)
    if (emulator.readsInTransition === 0) end()
    else {
      system.powerState = through
      transitions.set(system.id, { reads: emulator.readsInTransition, end })
    }
  }
  const turnOn = (system: EmulatedSystem) =>
    change(system, 'PoweringOn', () => {
      system.powerState = 'On'
      boot(system)
      onPower(system, true)
    })
  const turnOff = (system: EmulatedSystem) =>
    change(system, 'PoweringOff', () => {
      system.powerState = 'Off'
      onPower(system, false)
    })

  function reset(system: EmulatedSystem, type: string): void {
    system.resets.push(type)
    if (type === 'On' || type === 'ForceOn') turnOn(system)
    else if (type === 'ForceOff' || type === 'GracefulShutdown') turnOff(system)
    else if (type !== 'Nmi') {
      if (system.lastReset !== null) system.lastReset = new Date(Date.UTC(2026, 0, 2) + ++resetCount * 1000).toISOString()
      turnOn(system)
    }
  }

  const error = (text: string) => ({
    error: {
      code: 'Base.1.8.GeneralError',
      message: 'A general error has occurred. See ExtendedInfo for more information.',
      '@Message.ExtendedInfo': [{ MessageId: 'Base.1.8.GeneralError', Message: text, Resolution: 'None.' }],
    },
  })
  const etag = ({ id }: EmulatedSystem) => `W/"${versions.get(id) ?? 0}"`
  const link = (path: string) => ({ '@odata.id': path })

  function describe(system: EmulatedSystem): Json {
    const path = `/redfish/v1/Systems/${system.id}`
    return {
      ...link(path),
      ...{ Id: system.id, Manufacturer: 'Emulated', Model: 'E-1', SerialNumber: system.serial, UUID: system.uuid.toUpperCase() },
      ...{ BiosVersion: '1.2.3', PowerState: system.powerState },
      ...(system.lastReset === null ? {} : { LastResetTime: system.lastReset }),
      ProcessorSummary: { Count: 2, Model: 'Emulated CPU' },
      MemorySummary: { TotalSystemMemoryGiB: 512 },
      Boot: {
        BootSourceOverrideEnabled: system.boot.enabled,
        BootSourceOverrideTarget: system.boot.target,
        'BootSourceOverrideTarget@Redfish.AllowableValues': ['None', 'Pxe', 'Hdd', 'BiosSetup'],
      },
      EthernetInterfaces: link(`${path}/EthernetInterfaces`),
      LogServices: link(`${path}/LogServices`),
      Links: { Chassis: [link('/redfish/v1/Chassis/1')], ManagedBy: [link('/redfish/v1/Managers/1')] },
      Actions: {
        '#ComputerSystem.Reset': {
          target: `${path}/Actions/ComputerSystem.Reset`,
          'ResetType@Redfish.AllowableValues': emulator.resetTypes,
        },
      },
    }
  }

  /** The answer to a GET without state. */
  function fixed(path: string): Json | null {
    const found = /^\/redfish\/v1\/Systems\/(\d+)\/(.*)$/.exec(path)
    const system = systems.find(({ id }) => id === found?.[1])
    if (system) {
      const base = `/redfish/v1/Systems/${system.id}`
      if (found![2] === 'EthernetInterfaces') return { Members: system.macs.map((_, i) => link(`${path}/${i}`)) }
      if (/^EthernetInterfaces\/\d+$/.test(found![2]!)) return { MACAddress: system.macs[Number(path.split('/').at(-1))] }
      if (found![2] === 'LogServices') return { Members: [link(`${base}/LogServices/SEL`)] }
      if (found![2] === 'LogServices/SEL') return { Entries: link(`${base}/LogServices/SEL/Entries`) }
      if (found![2] === 'LogServices/SEL/Entries')
        return {
          Members: [
            { Id: '1', Created: '2026-01-01T00:00:00Z', Severity: 'OK', Message: 'Power supply inserted' },
            { Id: '2', Created: '2026-01-02T00:00:00Z', Severity: 'Critical', Message: 'Fan 3\u001b[2J lost' },
          ],
        }
    }
    return (
      (
        {
          '/redfish/v1/Systems': { Members: systems.map(({ id }) => link(`/redfish/v1/Systems/${id}`)) },
          '/redfish/v1/Managers/1': { Model: 'Emulated BMC', FirmwareVersion: '7.8.9' },
          '/redfish/v1/Chassis/1': { Thermal: link('/redfish/v1/Chassis/1/Thermal'), Power: link('/redfish/v1/Chassis/1/Power') },
          '/redfish/v1/Chassis/1/Thermal': {
            Temperatures: [{ Name: 'CPU 1', ReadingCelsius: 45.5, Status: { State: 'Enabled', Health: 'OK' } }],
            Fans: [{ Name: 'Fan 3', Reading: 0, ReadingUnits: 'RPM', Status: { State: 'Enabled', Health: 'Critical' } }],
          },
          '/redfish/v1/Chassis/1/Power': { PowerControl: [{ Name: 'Input', PowerConsumedWatts: 420 }] },
        } as Record<string, Json>
      )[path] ?? null
    )
  }

  const basic = `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}`
  const isSignedIn = ({ headers }: IncomingMessage): boolean =>
    headers.authorization === basic || emulator.sessions.has(String(headers['x-auth-token'] ?? ''))

  function respond(request: IncomingMessage, body: string, response: ServerResponse): unknown {
    const path = request.url!.replace(/\/$/, '')
    const send = (status: number, value?: Json, headers: Record<string, string> = {}): unknown => {
      response.writeHead(status, { 'content-type': 'application/json', ...headers })
      return response.end(value === undefined ? undefined : JSON.stringify(value))
    }
    if (path === '/redfish/v1' && request.method === 'GET')
      return send(200, {
        ...{ RedfishVersion: '1.15.0', Vendor: 'Emulated', Product: 'Redfish Emulator', UUID: systems[0]!.uuid },
        Systems: link('/redfish/v1/Systems'),
        Links: emulator.hasSessions ? { Sessions: link('/redfish/v1/SessionService/Sessions') } : {},
      })
    if (path === '/redfish/v1/SessionService/Sessions' && request.method === 'POST') {
      const login = JSON.parse(body) as Json
      if (login.UserName !== username || login.Password !== password)
        return send(401, error('The authentication credentials included with this request are missing or invalid.'))
      const token = randomBytes(12).toString('hex')
      emulator.sessions.add(token)
      const headers = { 'x-auth-token': token, location: `/redfish/v1/SessionService/Sessions/${token.slice(0, 8)}` }
      return send(201, { Id: token.slice(0, 8) }, headers)
    }
    if (!isSignedIn(request)) return send(401, error('There is no valid session.'))
    if (request.method === 'DELETE') {
      emulator.sessions.delete(String(request.headers['x-auth-token']))
      return send(204)
    }
    const [, id, rest] = /^\/redfish\/v1\/Systems\/(\d+)(\/Actions\/ComputerSystem\.Reset)?$/.exec(path) ?? []
    const system = systems.find((one) => one.id === id)
    if (system && rest && request.method === 'POST') {
      const type = String((JSON.parse(body) as Json).ResetType)
      if (!emulator.resetTypes.includes(type))
        return send(400, error(`The value ${type} for the property ResetType is not supported.`))
      if ((type === 'On') === (system.powerState === 'On'))
        return send(409, error(`The system is already in the power state ${system.powerState}.`))
      reset(system, type)
      return send(204)
    }
    if (system && !rest && request.method === 'PATCH') {
      if (request.headers['if-match'] !== etag(system)) return send(412, error('The ETag does not match.'))
      const { Boot: wanted } = JSON.parse(body) as {
        Boot: { BootSourceOverrideEnabled: 'Once' | 'Disabled'; BootSourceOverrideTarget?: string }
      }
      system.boot = { enabled: wanted.BootSourceOverrideEnabled, target: wanted.BootSourceOverrideTarget ?? 'None' }
      versions.set(system.id, (versions.get(system.id) ?? 0) + 1)
      return send(204)
    }
    if (request.method !== 'GET') return send(405, error('The method is not allowed.'))
    if (system && !rest) {
      const transition = transitions.get(system.id)
      if (transition && transition.reads-- <= 0) settle(system.id)
      return send(200, describe(system), { etag: etag(system) })
    }
    const value = fixed(path)
    return value ? send(200, value) : send(404, error('The resource does not exist.'))
  }

  const server: Server = createServer(certificate, (request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (text: string) => {
      body += text
    })
    request.on('end', () => {
      emulator.requests.push(`${request.method} ${request.url}`)
      const fault = emulator.faults.find(
        ({ method, path, times = 1 }) => times > 0 && (method ?? 'GET') === request.method && path.test(request.url!),
      )
      if (!fault) return respond(request, body, response)
      fault.times = (fault.times ?? 1) - 1
      const discarded = { writeHead() {}, end() {} } as unknown as ServerResponse
      fault.answer(response, () => respond(request, body, discarded))
    })
  })
  // A connection that a client refuses.
  server.on('tlsClientError', () => {})
  const emulator: RedfishEmulator = {
    port: 0,
    systems,
    requests: [],
    sessions: new Set(),
    faults: [],
    readsInTransition: 1,
    resetTypes: ALL_RESETS,
    hasSessions: true,
    expireSessions: () => emulator.sessions.clear(),
    settle: () => {
      for (const { id } of systems) settle(id)
    },
    setCertificate: (other) => server.setSecureContext(other),
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve())
        server.closeAllConnections()
      }),
  }
  await new Promise<void>((resolve) => server.listen(0, address, resolve))
  emulator.port = (server.address() as AddressInfo).port
  return emulator
}
