import type { Accelerator, DeviceType, Partition } from './schema.ts'

/** What a vendor's parser makes of the texts that its tool printed. */
export interface VendorReading {
  accelerators: Accelerator[]
  /** Version of the tool itself, or of the driver package where the tool prints just that. */
  version: string | null
  /** Why it failed, in the tool's own words; null when it answered. */
  failure: string | null
  /** Whose tool it turned out to be, when it is not the vendor's that the name promises. */
  foreign: string | null
  warnings: string[]
  /** Toolkit and driver versions that the tool told, by name. */
  toolkits: Record<string, string>
}

export const reading = (part: Partial<VendorReading> = {}): VendorReading => ({
  accelerators: [],
  version: null,
  failure: null,
  foreign: null,
  warnings: [],
  toolkits: {},
  ...part,
})

/** A device about which nothing but its kind is known; parsers fill in what they read. */
export const accelerator = (deviceType: DeviceType, vendor: string, part: Partial<Accelerator> = {}): Accelerator => ({
  deviceType,
  vendor,
  model: null,
  index: null,
  uuid: null,
  serial: null,
  slot: null,
  pciAddress: null,
  memoryTotal: null,
  memoryUsed: null,
  memoryUnified: false,
  driverVersion: null,
  firmwareVersion: null,
  toolkitVersion: null,
  computeCapability: null,
  partitionMode: null,
  partitions: [],
  numaNode: null,
  interconnect: null,
  eccMode: null,
  eccErrors: null,
  temperature: null,
  power: null,
  utilisation: null,
  health: 'unknown',
  healthReason: null,
  source: 'tool',
  confidence: 'high',
  ...part,
})

/** Fills what `device` does not know from `more`, which is the same device seen by another call. */
export function fill(device: Accelerator, more: Accelerator): Accelerator {
  const merged: Record<string, unknown> = { ...device }
  for (const [key, value] of Object.entries(more)) {
    const own = merged[key]
    if (own === null || own === undefined || (Array.isArray(own) && own.length === 0)) merged[key] = value
  }
  const result = merged as Accelerator
  if (device.health === 'unknown' && more.health !== 'unknown')
    Object.assign(result, { health: more.health, healthReason: more.healthReason })
  result.partitions = joinPartitions(device.partitions, more.partitions)
  result.memoryUnified = device.memoryUnified || more.memoryUnified
  return result
}

/** Joins what two calls tell of the same slices: by uuid, else by their number below the device. */
function joinPartitions(first: Partition[], second: Partition[]): Partition[] {
  if (!first.length || !second.length) return first.length ? first : second
  return first.map((own) => {
    const other = second.find((more) =>
      own.uuid && more.uuid ? own.uuid === more.uuid : own.index !== null && own.index === more.index,
    )
    if (!other) return own
    return {
      ...own,
      uuid: own.uuid ?? other.uuid,
      profile: own.profile ?? other.profile,
      parentUuid: own.parentUuid ?? other.parentUuid,
      memoryTotal: own.memoryTotal ?? other.memoryTotal,
    }
  })
}

/** Two sightings of one device: by uuid where both have one, else by PCI address, else by the tool's number. */
export function same(a: Accelerator, b: Accelerator): boolean {
  if (a.uuid && b.uuid) return a.uuid === b.uuid
  if (a.pciAddress && b.pciAddress)
    return a.pciAddress === b.pciAddress && (a.slot === null || b.slot === null || a.slot === b.slot)
  return a.index !== null && a.index === b.index
}

/** Joins two lists of sightings; devices only the second has are added at the end. Within a list nothing is joined. */
export function join(first: Accelerator[], second: Accelerator[]): Accelerator[] {
  const joined = [...first]
  for (const device of second) {
    const at = first.findIndex((candidate) => same(candidate, device))
    const match = joined[at]
    if (match) joined[at] = fill(match, device)
    else joined.push(device)
  }
  return joined
}

/** Leaves out rows that repeat a device, and says so; two places with one uuid stay two devices. */
export function withoutRepeats(devices: Accelerator[], tool: string): { accelerators: Accelerator[]; warnings: string[] } {
  const warnings: string[] = []
  const accelerators: Accelerator[] = []
  for (const device of devices) {
    const twin = device.uuid ? accelerators.find((other) => other.uuid === device.uuid) : undefined
    if (twin && (twin.pciAddress === device.pciAddress || !device.pciAddress || !twin.pciAddress)) {
      warnings.push(`${tool}: ${device.uuid} is listed twice; the second was left out`)
      continue
    }
    if (twin) warnings.push(`${tool}: ${twin.pciAddress} and ${device.pciAddress} report the same uuid ${device.uuid}`)
    accelerators.push(device)
  }
  return { accelerators, warnings }
}
