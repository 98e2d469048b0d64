import { parseMac } from '@muster/core/nodes'
import type { BmcEvent, BmcInventory, BmcSensor } from '@muster/core/power'
import { textOrNull } from './plain-text.ts'
import { type JsonObject, linkOf, listOf, objectOf, type RedfishClient, RedfishError, type Resource } from './redfish-client.ts'

const MAX_CHASSIS = 4
const MAX_INTERFACES = 16
const MAX_SENSORS = 300
/** Sensors of the newer schema, each of which needs a request when the BMC cannot expand the list. */
const MAX_SENSOR_REQUESTS = 60
const MAX_EVENTS = 100

/** A part that a BMC does not have, or cannot show, does not fail the reading. */
async function ifAvailable(client: RedfishClient, path: string | undefined): Promise<Resource | null> {
  if (path === undefined) return null
  try {
    return await client.get(path)
  } catch (error) {
    if (error instanceof RedfishError && (error.kind === 'REFUSED' || error.kind === 'INVALID')) return null
    throw error
  }
}
const members = ({ body }: Resource): { link: string | undefined; body: JsonObject }[] =>
  listOf(body.Members).map((member) => ({ link: linkOf(member), body: objectOf(member) }))
const firstLink = (value: unknown): string | undefined => listOf(value).flatMap((each) => linkOf(each) ?? [])[0]
const finite = (value: unknown): number | null => (typeof value === 'number' && Number.isFinite(value) ? value : null)

/** What the BMC reports about its machine, without the paths of its systems. */
export async function readInventory(client: RedfishClient, { body }: Resource): Promise<BmcInventory> {
  const manager = await ifAvailable(client, firstLink(objectOf(body.Links).ManagedBy))
  const macs = new Set<string>()
  const interfaces = await ifAvailable(client, linkOf(body.EthernetInterfaces))
  for (const { link } of interfaces ? members(interfaces).slice(0, MAX_INTERFACES) : []) {
    const found = (await ifAvailable(client, link))?.body ?? {}
    for (const text of [found.PermanentMACAddress, found.MACAddress]) {
      const mac = typeof text === 'string' ? parseMac(text) : null
      if (mac) macs.add(mac)
    }
  }
  const cpu = objectOf(body.ProcessorSummary)
  const memory = finite(objectOf(body.MemorySummary).TotalSystemMemoryGiB)
  return {
    manufacturer: textOrNull(body.Manufacturer),
    model: textOrNull(body.Model),
    serial: textOrNull(body.SerialNumber),
    uuid: textOrNull(body.UUID)?.toLowerCase() ?? null,
    biosVersion: textOrNull(body.BiosVersion),
    bmcModel: textOrNull(manager?.body.Model),
    bmcFirmware: textOrNull(manager?.body.FirmwareVersion),
    cpuModel: textOrNull(cpu.Model),
    cpuCount: finite(cpu.Count),
    memoryBytes: memory === null ? null : Math.round(memory * 1024 ** 3),
    macs: [...macs],
    systemPaths: [],
  }
}

/** Sensors of the chassis of a system: of the older resources Thermal and Power, or of the list of sensors. */
export async function readSensors(client: RedfishClient, { body }: Resource): Promise<BmcSensor[]> {
  const sensors: BmcSensor[] = []
  const add = (sensor: JsonObject, kind: string, value: unknown, unit: string) => {
    const name = textOrNull(sensor.Name ?? sensor.FanName ?? sensor.MemberId ?? sensor.Id, 100)
    const status = objectOf(sensor.Status)
    if (name && status.State !== 'Absent' && sensors.length < MAX_SENSORS)
      sensors.push({ name, kind, value: finite(value), unit, health: textOrNull(status.Health, 20) })
  }
  const paths = listOf(objectOf(body.Links).Chassis).flatMap((link) => linkOf(link) ?? [])
  for (const path of paths.slice(0, MAX_CHASSIS)) {
    const chassis = (await ifAvailable(client, path))?.body ?? {}
    const thermal = (await ifAvailable(client, linkOf(chassis.Thermal)))?.body
    const power = (await ifAvailable(client, linkOf(chassis.Power)))?.body
    for (const each of listOf(thermal?.Temperatures).map(objectOf)) add(each, 'Temperature', each.ReadingCelsius, 'Cel')
    for (const each of listOf(thermal?.Fans).map(objectOf))
      add(each, 'Fan', each.Reading, textOrNull(each.ReadingUnits, 20) ?? 'RPM')
    for (const each of listOf(power?.Voltages).map(objectOf)) add(each, 'Voltage', each.ReadingVolts, 'V')
    for (const each of listOf(power?.PowerControl).map(objectOf)) add(each, 'Power', each.PowerConsumedWatts, 'W')
    for (const each of listOf(power?.PowerSupplies).map(objectOf)) add(each, 'PowerSupply', each.LastPowerOutputWatts, 'W')
    const list = thermal || power ? null : await ifAvailable(client, linkOf(chassis.Sensors))
    for (const { link, body: own } of list ? members(list).slice(0, MAX_SENSOR_REQUESTS) : []) {
      const sensor = 'Reading' in own ? own : ((await ifAvailable(client, link))?.body ?? {})
      add(sensor, textOrNull(sensor.ReadingType, 40) ?? 'Sensor', sensor.Reading, textOrNull(sensor.ReadingUnits, 20) ?? '')
    }
  }
  return sensors
}

/** The newest entries of the event log of a system or its manager. */
export async function readEvents(client: RedfishClient, { body }: Resource): Promise<BmcEvent[]> {
  const manager = await ifAvailable(client, firstLink(objectOf(body.Links).ManagedBy))
  for (const services of [linkOf(body.LogServices), linkOf(manager?.body.LogServices)]) {
    const list = await ifAvailable(client, services)
    const links = list ? members(list).flatMap(({ link }) => link ?? []) : []
    // The log of hardware events, as far as the BMC names it; others have traffic of the BMC itself.
    const rank = (link: string) => (/\/(sel|iel|eventlog|log1)\/?$/i.test(link) ? 0 : 1)
    for (const link of links.toSorted((a, b) => rank(a) - rank(b)).slice(0, 3)) {
      const log = (await ifAvailable(client, link))?.body ?? {}
      const entries = await ifAvailable(client, linkOf(log.Entries))
      const events = (entries ? members(entries) : []).flatMap(({ body: entry }) => eventOf(entry) ?? [])
      if (events.length > 0) return events.toSorted(newestFirst).slice(0, MAX_EVENTS)
    }
  }
  return []
}

function eventOf(entry: JsonObject): BmcEvent | null {
  const message = textOrNull(entry.Message, 500)
  if (!message) return null
  const created = typeof entry.Created === 'string' ? Date.parse(entry.Created) : Number.NaN
  return {
    id: textOrNull(entry.Id, 64) ?? '',
    at: Number.isNaN(created) ? null : new Date(created).toISOString(),
    severity: textOrNull(entry.Severity, 20),
    message,
  }
}
const newestFirst = (a: BmcEvent, b: BmcEvent) => (b.at ?? '').localeCompare(a.at ?? '')
